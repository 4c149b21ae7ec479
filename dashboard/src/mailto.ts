/** Opens a mail to somebody. An address may have any characters, and those with a meaning in a URL would add recipients or a text. */
export function mailtoOf(email: string): string {
  const at = email.lastIndexOf('@');
  if (at === -1) return `mailto:${encodeURIComponent(email)}`;
  return `mailto:${encodeURIComponent(email.slice(0, at))}@${encodeURIComponent(email.slice(at + 1))}`;
}
