import { NOISE, type Rows, TENTH } from './row.ts'

/** Webhooks: how fast they are sent, and whom a dead receiver delays. */

const NEXT_TO_NOTHING =
  'A loop that does nothing else, on a network without distance: two signatures, the judged URL and the bounds in time cost what fetch costs.'
const LEFT = { none: 'what is left to be had, without signature, judgement and bounds' }

export const webhooks: Rows = {
  'webhooks 1 fetch': {
    part: 'webhooks',
    what: 'signed webhooks, one at a time',
    base: 'bare fetch loop, unsigned',
    unit: '1/s',
    target: { ratioAtLeast: 1 },
    explained: NEXT_TO_NOTHING,
  },
  'webhooks 1 undici': {
    part: 'webhooks',
    what: 'signed webhooks, one at a time',
    base: 'bare undici, connections kept, unsigned',
    unit: '1/s',
    target: LEFT,
  },
  'webhooks 16 fetch': {
    part: 'webhooks',
    what: 'signed webhooks, 16 at once',
    base: 'bare fetch loop, unsigned',
    unit: '1/s',
    target: { ratioAtLeast: 1 },
    explained: NEXT_TO_NOTHING,
  },
  'webhooks 16 undici': {
    part: 'webhooks',
    what: 'signed webhooks, 16 at once',
    base: 'bare undici, connections kept, unsigned',
    unit: '1/s',
    target: LEFT,
  },
  'dead receiver p50': {
    part: 'dead-receiver',
    what: 'from queue to the 49 others, p50',
    base: 'all fifty alive',
    unit: 'ms',
    target: TENTH,
    explained:
      'The dead one is owed a fifth of all events, and what is read and marked for them takes of the same database and processors.',
  },
  'dead receiver p99': {
    part: 'dead-receiver',
    what: 'from queue to the 49 others, p99',
    base: 'all fifty alive',
    unit: 'ms',
    target: TENTH,
    explained: NOISE,
  },
}
