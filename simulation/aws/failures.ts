import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import type { Chance } from '../engine/random.ts'

/** How calls to AWS fail, as the SDK says it. */

export const timedOut = (): Error =>
  Object.assign(new Error('socket hang up'), { name: 'TimeoutError', $metadata: {} })

export const throttled = (): Error =>
  new ProvisionedThroughputExceededException({ $metadata: {}, message: 'Too many requests' })

export const unavailable = (): Error =>
  Object.assign(new Error('Service is not available'), {
    name: 'ServiceUnavailable',
    $metadata: { httpStatusCode: 503 },
  })

const cancelled = (writes: number, place: number, Code: string): Error =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'Transaction cancelled',
    CancellationReasons: Array.from({ length: writes }, (_, n) => ({
      Code: n === place ? Code : 'None',
    })),
  })

/** Another transaction is at one of the items. */
export const conflicting = (writes: number | undefined, chance: Chance): Error =>
  writes === undefined
    ? new TransactionConflictException({ $metadata: {}, message: 'Transaction is ongoing' })
    : cancelled(writes, chance.below(writes), 'TransactionConflict')

export const throttledTransaction = (writes: number, chance: Chance): Error =>
  cancelled(writes, chance.below(writes), 'ThrottlingError')
