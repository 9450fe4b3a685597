import type { Rows } from './row.ts'

/** What is deployed: its cold start, and what a debit costs. */

const ROUND_TRIPS =
  'The four or five round trips of a first call are in both columns, and weigh the more the slower the database.'

export const deployed: Rows = {
  'size charge': {
    part: 'cold-start',
    what: 'charge, bundle (at most 265 kB: a test holds it)',
    base: 'the SDK alone',
    unit: 'kB',
    target: { ratioAtMost: 0.8 },
  },
  'cold charge': {
    part: 'cold-start',
    what: 'charge, import and first call',
    base: 'the SDK alone, the same calls',
    unit: 'ms',
    target: { ratioAtMost: 0.8 },
    explained: ROUND_TRIPS,
  },
  'size get-debit-request': {
    part: 'cold-start',
    what: 'status read, bundle',
    base: 'the SDK alone',
    unit: 'kB',
    target: { ratioAtMost: 0.8 },
  },
  'cold get-debit-request': {
    part: 'cold-start',
    what: 'status read, import and first call',
    base: 'the SDK alone, the same calls',
    unit: 'ms',
    target: { ratioAtMost: 0.8 },
    explained: ROUND_TRIPS,
  },
  'cost written': {
    part: 'cost',
    what: 'write units of a debit, indexes among them',
    unit: 'units',
    target: { atMost: 32 },
    explained:
      'Two transactions are more than half of it, because their items count twice: the charge, with four items and three index entries, is 11 units, and the settlement line with its debit 5. Two units keep the status in the index by customer.',
  },
  'cost read': {
    part: 'cost',
    what: 'read units of a debit',
    unit: 'units',
    target: { none: 'a sixth of the write units’ price' },
  },
  'cost sqs': {
    part: 'cost',
    what: 'SQS requests of a debit',
    unit: 'times',
    target: { none: 'they are in the cost' },
  },
  'cost invocations': {
    part: 'cost',
    what: 'Lambda invocations of a debit',
    unit: 'times',
    target: { none: 'they are in the cost' },
  },
  'cost million': {
    part: 'cost',
    what: 'a million debits, at list prices',
    unit: '$',
    target: { none: 'Lambda’s seconds are this machine’s, which is the database too' },
  },
}
