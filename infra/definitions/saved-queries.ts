/** Queries of Logs Insights that the console lists as `debit-collection-STAGE/NAME`. */

const REQUEST = 'message = "request" and status >= 400 and status < 500'

const outcomesBy = (object: 'bank' | 'provider') =>
  [
    'filter ispresent(DebitsCompleted) or ispresent(DebitsFailed)',
    `stats count(*) as debits, pct(seconds, 95) as p95, latest(reference) as newest, max(@timestamp) as at by ${object}, code`,
  ] as const

export const savedQueries = {
  /** Faults and warnings of all functions. */
  problems: [
    'fields @timestamp, @log, level, message, reference, request_id, subject.0, error.message',
    'filter level in ["ERROR", "WARN"] or message = "fault"',
    'sort @timestamp desc',
    'limit 100',
  ],
  /** The path of a debit through all functions. */
  debit: [
    'fields @timestamp, @log, message, operation, caller, status, event, attempt, cause, error.message',
    'filter @message like "DCS-20261121-ABC123"',
    'sort @timestamp',
  ],
  'failed-debits': [
    'filter ispresent(DebitsFailed)',
    'stats sum(DebitsFailed) as failed by bank, code',
    'sort failed desc',
  ],
  /** Completed debits have no code. */
  'outcomes-by-bank': outcomesBy('bank'),
  'outcomes-by-provider': outcomesBy('provider'),
  'charge-refusals': [
    `filter operation = "charge" and ${REQUEST}`,
    'stats count(*) as refused by caller, status',
    'sort refused desc',
  ],
  'bank-refusals': [
    `filter operation in ["update-debit-transaction", "debit-callback", "list-debit-transactions"] and ${REQUEST}`,
    'stats count(*) as refused by operation, caller, status',
    'sort refused desc',
  ],
  'webhook-attempts': [
    'filter message = "delivery attempted"',
    'stats count(*) as attempts by provider, cause, response_code',
    'sort attempts desc',
  ],
} as const satisfies Record<string, readonly string[]>

export type SavedQuery = keyof typeof savedQueries
