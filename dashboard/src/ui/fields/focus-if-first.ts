/** Of the fields that hold a form back, the first one gets the focus, as it does where the browser shows its own message. */
export function focusIfFirst(field: HTMLInputElement): void {
  if (field.form?.querySelector('input:invalid') === field) field.focus();
}
