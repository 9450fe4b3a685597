import { type Rows, TENTH } from './row.ts'

const PAGES =
  'It is the last turn: a batch is read to be summed, and for each of its two reports, and of a query DynamoDB Local looks through all that is left for each page, 925 ms for the first of a hundred thousand lines and 310 ms for the first of ten thousand. Without that turn a debit takes less than a tenth more than among a thousand, and nine tenths of the bare speed.'

/** Settlement, beside a loop of the same writes. */

export const settlement: Rows = {
  'settlement 1000': {
    part: 'settlement',
    what: '1,000 debits settled',
    base: 'the same writes, bare',
    unit: '1/s',
    target: { ratioAtLeast: 0.8 },
    explained:
      'A day of a thousand is a second of work, in which opening, summing and sealing its batch weigh as they do not in a larger one.',
  },
  'settlement 10000': {
    part: 'settlement',
    what: '10,000 debits settled',
    base: 'the same writes, bare',
    unit: '1/s',
    target: { ratioAtLeast: 0.8 },
    only: 'not short',
  },
  'settlement growth 10000': {
    part: 'settlement',
    what: 'time of a debit among 10,000',
    base: 'time of a debit among 1,000',
    unit: 'µs',
    target: TENTH,
    explained:
      'DynamoDB Local slows down as its table grows; the row above, beside a bare loop of the same size, tells that apart.',
    only: 'not short',
  },
  'settlement 100000': {
    part: 'settlement',
    what: '100,000 debits settled',
    base: 'the same writes, bare',
    unit: '1/s',
    target: { ratioAtLeast: 0.8 },
    explained: PAGES,
    only: 'full',
  },
  'settlement growth 100000': {
    part: 'settlement',
    what: 'time of a debit among 100,000',
    base: 'time of a debit among 1,000',
    unit: 'µs',
    target: TENTH,
    explained: PAGES,
    only: 'full',
  },
}
