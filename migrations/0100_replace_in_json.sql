-- Replaces what two patterns match inside the strings of a JSON value. What is outside of strings stays as it is: a company may be
-- called "null" or "1". Names of fields lose contacts only, because a company may also be called "Title".
create function replace_in_json(value jsonb, contacts text, words text, replacement text) returns jsonb
language plpgsql immutable parallel safe as $$
begin
  case jsonb_typeof(value)
    when 'string' then
      return to_jsonb(regexp_replace(
        regexp_replace(value #>> '{}', contacts, replacement, 'gi'), words, replacement, 'gi'));
    when 'array' then
      return (
        select coalesce(jsonb_agg(replace_in_json(element, contacts, words, replacement) order by number), '[]')
        from jsonb_array_elements(value) with ordinality as elements (element, number));
    when 'object' then
      return (
        select coalesce(jsonb_object_agg(
          regexp_replace(name, contacts, replacement, 'gi'), replace_in_json(field, contacts, words, replacement)), '{}')
        from jsonb_each(value) as fields (name, field));
    else
      return value;
  end case;
end
$$;
