-- The doctor and the dealer's home page count what can't be priced. There is hardly ever any, so the index is nearly empty.
create index channel_documents_unpriceable on channel_documents (integration_id, api_version) where is_unpriceable;
