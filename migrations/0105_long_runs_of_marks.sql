-- To bring accents into their order takes the square of how many follow each other: a thousand customers, each with names of a
-- letter and five hundred accents, kept a connection busy for half a minute. So text goes through in pieces, those that are not
-- ASCII of 64 characters at most. The words are the same as before, so no row has to be written anew.
create or replace function search_words(text) returns text[] language sql immutable parallel safe as $$
  select array_remove(regexp_split_to_array(lower(regexp_replace((
      select coalesce(string_agg(normalize(piece[1], NFKD), '' order by number), '')
      from regexp_matches($1, E'[\\x01-\\x7f]+|[^\\x01-\\x7f]{1,64}', 'g') with ordinality as pieces (piece, number)),
    E'[\u0300-\u036f]', '', 'g')), E'[\\s!-/:-@\\[-`{-~]+'), '')
$$;

create or replace function item_search_words(organization_id text, stock_number text, title text, attributes jsonb)
returns tsvector language sql immutable parallel safe as $$
  select coalesce(array_to_tsvector(array_agg(right(organization_id, 6) || ':' || word)), ''::tsvector)
  from unnest(regexp_split_to_array(lower(regexp_replace((
      select string_agg(normalize(piece[1], NFKD), '' order by number)
      from regexp_matches(
        concat_ws(' ', stock_number, title, attributes ->> 'brand', attributes ->> 'model',
          attributes ->> 'reference_number', attributes ->> 'part_number', attributes ->> 'caliber',
          regexp_replace(stock_number, E'[\\s!-/:-@\\[-`{-~]+', '', 'g'),
          regexp_replace(attributes ->> 'reference_number', E'[\\s!-/:-@\\[-`{-~]+', '', 'g'),
          regexp_replace(attributes ->> 'part_number', E'[\\s!-/:-@\\[-`{-~]+', '', 'g')),
        E'[\\x01-\\x7f]+|[^\\x01-\\x7f]{1,64}', 'g') with ordinality as pieces (piece, number)),
    E'[\u0300-\u036f]', '', 'g')), E'[\\s!-/:-@\\[-`{-~]+')) as word
  where word <> ''
$$;

create or replace function customer_search_words(
  organization_id text, first_name text, last_name text, company text, email text, phone text)
returns tsvector language plpgsql immutable parallel safe as $$
declare
  texts text := concat_ws(' ', first_name, last_name, company, email, phone);
  plain text := lower(case when octet_length(texts) = length(texts) then texts
    else regexp_replace((
        select string_agg(normalize(piece[1], NFKD), '' order by number)
        from regexp_matches(texts, E'[\\x01-\\x7f]+|[^\\x01-\\x7f]{1,64}', 'g') with ordinality as pieces (piece, number)),
      E'[\u0300-\u036f]', '', 'g') end);
  prefix text := right(organization_id, 6) || ':';
  words text[] := '{}';
  word text;
begin
  foreach word in array regexp_split_to_array(plain, E'[\\s!-/:-@\\[-`{-~]+') loop
    if word <> '' then words := words || (prefix || left(word, 100)); end if;
  end loop;
  return array_to_tsvector(words);
end $$;

create or replace function order_search_words(organization_id text, channel_order_id text, document text)
returns tsvector language plpgsql immutable parallel safe as $$
declare
  tail text := substr(document, strpos(document, '"customer":'));
  ending integer := strpos(tail, ',"billing_address":');
  reported json := case when ending > 0 and left(tail, 1) = '"' then '{' || left(tail, ending - 1) || '}' else document end;
  buyer json := reported -> 'customer';
  texts text := concat_ws(' ', channel_order_id, regexp_replace(channel_order_id, E'[\\s!-/:-@\\[-`{-~]+', '', 'g'),
    buyer ->> 'first_name', buyer ->> 'last_name', buyer ->> 'email', buyer ->> 'phone', buyer ->> 'external_id',
    reported -> 'shipping_address' ->> 'name');
  plain text := lower(case when octet_length(texts) = length(texts) then texts
    else regexp_replace((
        select string_agg(normalize(piece[1], NFKD), '' order by number)
        from regexp_matches(texts, E'[\\x01-\\x7f]+|[^\\x01-\\x7f]{1,64}', 'g') with ordinality as pieces (piece, number)),
      E'[\u0300-\u036f]', '', 'g') end);
  prefix text := right(organization_id, 6) || ':';
  words text[] := '{}';
  word text;
begin
  foreach word in array regexp_split_to_array(plain, E'[\\s!-/:-@\\[-`{-~]+') loop
    if word <> '' then words := words || (prefix || left(word, 100)); end if;
  end loop;
  return array_to_tsvector(words);
end $$;
