import { NOISE, type Row, type Rows, TENTH, TENTH_LESS } from './row.ts'

/** Charge and status read, beside a bare client of the AWS SDK. */

const TRANSACTION = 'bare TransactWriteItems'
const COUNTED = 'counter and transaction, bare'
const READ = 'bare GetItem'
const COUNTED_READ = 'read and two counters, bare'
const COUNTER_APART = { none: 'the counter’s round trip is in it; the row below leaves it out' }
const SHARED =
  'The database is on the same processors: what ours takes of them, it has to wait for.'
const OUR_CODE =
  'Guards, validation, log and items are the larger part of what is more; the SDK’s document client, which marks up values and builds its chain of middleware anew for each command, is the smaller: see “Time of our own”.'
const WIRE = { none: 'what of the processor time is the SDK’s, its document client’s and ours' }
const LIBRARIES =
  'No single thing: middy, the log, two readings of the body and the text of keys and items, by the profile below; a loop of nothing else makes it as small as it can be. Beside its round trips it is a hundredth.'

const charges = ([1, 8, 32] as const).flatMap((together) => {
  const what = (figure: string) => `charge, ${figure}, ${together} at once`
  const row = { part: 'charge', unit: 'ms' } as const
  return [
    [
      `charge ${together} bare p50`,
      { ...row, what: what('p50'), base: TRANSACTION, target: COUNTER_APART },
    ],
    [
      `charge ${together} p50`,
      { ...row, what: what('p50'), base: COUNTED, target: TENTH, explained: SHARED },
    ],
    [
      `charge ${together} p99`,
      { ...row, what: what('p99'), base: COUNTED, target: TENTH, explained: NOISE },
    ],
    [
      `charge ${together} throughput`,
      {
        ...row,
        what: what('throughput'),
        base: COUNTED,
        unit: '1/s',
        target: TENTH_LESS,
        explained: SHARED,
      },
    ],
  ] as [string, Row][]
})

const statuses = ([1, 32] as const).flatMap((together) => {
  const what = (figure: string) => `status read, ${figure}, ${together} at once`
  const row = { part: 'status', unit: 'ms' } as const
  return [
    [
      `status ${together} bare p50`,
      { ...row, what: what('p50'), base: READ, target: COUNTER_APART },
    ],
    [
      `status ${together} p50`,
      { ...row, what: what('p50'), base: COUNTED_READ, target: TENTH, explained: SHARED },
    ],
    [
      `status ${together} p99`,
      { ...row, what: what('p99'), base: COUNTED_READ, target: TENTH, explained: NOISE },
    ],
    [
      `status ${together} throughput`,
      {
        ...row,
        what: what('throughput'),
        base: COUNTED_READ,
        unit: '1/s',
        target: TENTH_LESS,
        explained: SHARED,
      },
    ],
  ] as [string, Row][]
})

export const requests: Rows = {
  ...Object.fromEntries(charges),
  'charge cpu': {
    part: 'charge',
    what: 'charge, processor time',
    base: COUNTED,
    unit: 'µs',
    target: TENTH,
    explained: OUR_CODE,
  },
  ...Object.fromEntries(statuses),
  'status cpu': {
    part: 'status',
    what: 'status read, processor time',
    base: COUNTED_READ,
    unit: 'µs',
    target: TENTH,
    explained: OUR_CODE,
  },
  'own time charge': {
    part: 'own-time',
    what: 'charge, `send` of the client answered at once',
    unit: 'µs',
    target: { atMost: 20 },
    explained: LIBRARIES,
  },
  'own time status': {
    part: 'own-time',
    what: 'status read, `send` of the client answered at once',
    unit: 'µs',
    target: { atMost: 20 },
    explained: LIBRARIES,
  },
  'wire charge': {
    part: 'own-time',
    what: 'charge, last step of the client answered at once',
    base: 'the same calls, bare',
    unit: 'µs',
    target: WIRE,
  },
  'wire charge documents': {
    part: 'own-time',
    what: 'charge, last step of the client answered at once',
    base: 'the same calls by a document client',
    unit: 'µs',
    target: WIRE,
  },
  'wire status': {
    part: 'own-time',
    what: 'status read, last step of the client answered at once',
    base: 'the same calls, bare',
    unit: 'µs',
    target: WIRE,
  },
  'wire status documents': {
    part: 'own-time',
    what: 'status read, last step of the client answered at once',
    base: 'the same calls by a document client',
    unit: 'µs',
    target: WIRE,
  },
}
