import { NOISE, type Row, type Rows, TENTH, TENTH_LESS } from './row.ts'

/** Charge and status read, beside a bare client of the AWS SDK. */

const TRANSACTION = 'bare TransactWriteItems'
const COUNTED = 'counter and transaction, bare'
const READ = 'bare GetItem'
const COUNTED_READ = 'read and two counters, bare'
const COUNTER_APART = { none: 'the counter’s round trip is in it; the row below leaves it out' }
const SHARED =
  'The database is on the same processors: what ours takes of them, it has to wait for.'
const DOCUMENT_CLIENT =
  'Most of it is the SDK’s document client, which marks up every value and builds its chain of middleware anew for each command; guards, validation and log are the smaller part, told apart under “Time of our own”.'
const LIBRARIES =
  'No single thing: the profile below tells guards, validation, log and the items apart. It is a hundredth of the round trips beside it.'

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
    explained: DOCUMENT_CLIENT,
  },
  ...Object.fromEntries(statuses),
  'status cpu': {
    part: 'status',
    what: 'status read, processor time',
    base: COUNTED_READ,
    unit: 'µs',
    target: TENTH,
    explained: DOCUMENT_CLIENT,
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
    base: 'the same two calls, bare',
    unit: 'µs',
    target: { none: 'ours and what the SDK’s document client takes for us, together' },
  },
  'wire status': {
    part: 'own-time',
    what: 'status read, last step of the client answered at once',
    base: 'the same three calls, bare',
    unit: 'µs',
    target: { none: 'as above' },
  },
}
