/** Queries of Athena over the exports of the table, in the workgroup `debit-collection-STAGE`. */

/**
 * The newest image of each item: that of the newest full export, or of a change since. Earlier changes
 * are in that export, or a restore has undone them.
 */
const ITEMS = `WITH base AS (
  SELECT max(regexp_extract(line, '"exportTime[" :]+([^"]+)"', 1)) time,
    regexp_extract("$path", '([^/]+)/manifest-summary', 1) export
  FROM exported WHERE "$path" LIKE '%/manifest-summary.json' GROUP BY "$path"
  HAVING max(CASE WHEN line LIKE '%"FULL_EXPORT"%' THEN 1 END) = 1 ORDER BY 1 DESC LIMIT 1
), lines AS (
  SELECT json_extract(line, '$.Keys') keys, json_extract(line, '$.Item') item,
    json_extract(line, '$.NewImage') image,
    coalesce(CAST(json_extract_scalar(line, '$.Metadata.WriteTimestampMicros.N') AS bigint), 0) written,
    to_unixtime(from_iso8601_timestamp(time)) * 1000000 since,
    "$path" LIKE '%/' || export || '/data/%' isBase
  FROM exported CROSS JOIN base WHERE "$path" LIKE '%/data/%'
), images AS (
  SELECT coalesce(image, item) image, row_number() OVER (PARTITION BY
      json_extract_scalar(coalesce(keys, item), '$.pk.S'), json_extract_scalar(coalesce(keys, item), '$.sk.S')
    ORDER BY written DESC) age
  FROM lines WHERE isBase OR written >= since
), items AS (
  SELECT image, json_extract_scalar(image, '$.entity.S') entity FROM images WHERE age = 1 AND image IS NOT NULL
)`

/** Dates are UTC, amounts are pesewas. */
const DEBITS = `${ITEMS}, debits AS (
  SELECT json_extract_scalar(image, '$.reference.S') reference,
    json_extract_scalar(image, '$.provider.S') provider,
    json_extract_scalar(image, '$.bank.M.identifier.S') bank,
    CAST(json_extract_scalar(image, '$.amount.N') AS bigint) amount,
    json_extract_scalar(image, '$.status.S') status,
    from_unixtime(CAST(json_extract_scalar(image, '$.history.L[0].M.at.N') AS bigint) / 1000) created,
    CAST(json_extract(image, '$.history.L') AS array(json)) history
  FROM items WHERE entity = 'debit'
)`

/** An entry without a time has that of the entry before it. */
const EVENTS = `${DEBITS}, events AS (
  SELECT reference, provider, bank, amount, status, created, n,
    json_extract_scalar(entry, '$.M.type.S') event,
    from_unixtime(max(CAST(json_extract_scalar(entry, '$.M.at.N') AS bigint))
      OVER (PARTITION BY reference ORDER BY n) / 1000) occurred,
    json_extract_scalar(entry, '$.M.set.M.errorCode.S') code
  FROM debits CROSS JOIN UNNEST(history) WITH ORDINALITY AS entries (entry, n)
)`

export const lakeQueries = {
  debits: `${DEBITS}
SELECT reference, provider, bank, amount, status, created FROM debits ORDER BY created`,
  events: `${EVENTS}
SELECT reference, n, event, occurred, code FROM events ORDER BY reference, n`,
  lines: `${ITEMS}
SELECT json_extract_scalar(image, '$.pk.S') batch, kind, line FROM items
CROSS JOIN UNNEST(ARRAY['debit', 'adjustment'], ARRAY[json_extract_scalar(image, '$.debits.S'),
  json_extract_scalar(image, '$.adjustments.S')]) AS kinds (kind, texts)
CROSS JOIN UNNEST(split(texts, chr(10))) AS texts (line)
WHERE entity = 'lines'`,
  'monthly-return': `${EVENTS}
SELECT date_format(occurred, '%Y-%m') month, bank, count(*) debits, sum(amount) amount
FROM events WHERE event = 'completed' GROUP BY 1, 2 ORDER BY 1, 2`,
  'success-rate': `${EVENTS}
SELECT bank, coalesce(code, event) outcome, count(*) debits,
  count(*) * 100.0 / sum(count(*)) OVER (PARTITION BY bank) percent
FROM events WHERE event IN ('completed', 'failed') GROUP BY 1, 2 ORDER BY 1, 3 DESC`,
  'time-to-outcome': `${EVENTS}
SELECT bank, event, approx_percentile(date_diff('second', created, occurred), 0.5) median_seconds,
  approx_percentile(date_diff('second', created, occurred), 0.99) p99_seconds
FROM events WHERE event IN ('completed', 'failed') GROUP BY 1, 2 ORDER BY 1, 2`,
} as const
