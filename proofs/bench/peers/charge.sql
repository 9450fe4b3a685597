-- A charge in one transaction and one round trip: claim, debit, outbox, day total. The day total is
-- last, so that its row is locked briefly.

CREATE TABLE claims (
  provider text, partner_reference text, reference text NOT NULL,
  PRIMARY KEY (provider, partner_reference)
);
CREATE TABLE day_totals (
  provider text, day date, pesewas bigint NOT NULL,
  PRIMARY KEY (provider, day)
);
CREATE TABLE debits (
  reference text PRIMARY KEY, provider text NOT NULL, customer text NOT NULL, status text NOT NULL,
  pesewas bigint NOT NULL, created_at timestamptz NOT NULL, facts jsonb NOT NULL
);
CREATE INDEX ON debits (provider, created_at);
CREATE INDEX ON debits (customer, created_at);
CREATE TABLE outbox (
  id bigserial PRIMARY KEY, reference text NOT NULL, event text NOT NULL, facts jsonb NOT NULL
);
CREATE SEQUENCE suffixes;

CREATE FUNCTION charge(
  the_provider text, the_reference text, the_customer text, amount bigint, daily_limit bigint
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  reference text := 'DCS-20261122-' || lpad(upper(to_hex(nextval('suffixes'))), 6, '0');
  facts jsonb := jsonb_build_object(
    'uuid', gen_random_uuid(), 'currency', 'GHS', 'bank', 'GCB', 'account', '1041001001',
    'name', 'Ama Mensah', 'narration', 'Payment for your order, thank you for shopping',
    'history', jsonb_build_array('created', 'pending'), 'metadata', jsonb_build_object('cart', 77));
BEGIN
  INSERT INTO claims VALUES (the_provider, the_reference, reference);
  INSERT INTO debits
    VALUES (reference, the_provider, the_customer, 'pending', amount, now(), facts);
  INSERT INTO outbox (reference, event, facts) VALUES (reference, 'created', facts);
  UPDATE day_totals SET pesewas = pesewas + amount
    WHERE provider = the_provider AND day = current_date AND pesewas + amount <= daily_limit;
  IF NOT FOUND THEN RAISE EXCEPTION 'above the daily limit'; END IF;
  RETURN reference;
END $$;

INSERT INTO day_totals SELECT 'provider-' || n, current_date, 0 FROM generate_series(1, 64) n;
