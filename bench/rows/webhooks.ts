import { NOISE, type Rows, TENTH } from './row.ts'

/** Webhooks: how fast they are sent, and whom a dead receiver delays. */

export const webhooks: Rows = {
  'webhooks 1 fetch': {
    part: 'webhooks',
    what: 'signed webhooks, one at a time',
    base: 'bare fetch loop, unsigned',
    unit: '1/s',
    target: { ratioAtLeast: 1 },
    explained:
      'A loop that does nothing else, on a network without distance: two signatures, the judged URL and the bounds in time cost what fetch costs.',
  },
  'webhooks 1 undici': {
    part: 'webhooks',
    what: 'signed webhooks, one at a time',
    base: 'bare undici, connections kept, unsigned',
    unit: '1/s',
    target: { none: 'what there is to be had without signature, judgement and bounds' },
  },
  'webhooks 16 fetch': {
    part: 'webhooks',
    what: 'signed webhooks, 16 at once',
    base: 'bare fetch loop, unsigned',
    unit: '1/s',
    target: { ratioAtLeast: 1 },
    explained: 'As above.',
  },
  'webhooks 16 undici': {
    part: 'webhooks',
    what: 'signed webhooks, 16 at once',
    base: 'bare undici, connections kept, unsigned',
    unit: '1/s',
    target: { none: 'as above' },
  },
  'dead receiver p50': {
    part: 'dead-receiver',
    what: 'from queue to the 49 others, p50',
    base: 'all fifty alive',
    unit: 'ms',
    target: TENTH,
    explained: 'Sixty requests to DynamoDB Local a second more or less are seen in it.',
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
