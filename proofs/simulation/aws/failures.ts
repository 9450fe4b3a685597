import {
  ProvisionedThroughputExceededException,
  TransactionCanceledException,
  TransactionConflictException,
} from '@aws-sdk/client-dynamodb'
import type { Random } from '../engine/random.ts'

export const timedOut = (): Error =>
  Object.assign(new Error('socket hang up'), { name: 'TimeoutError', $metadata: {} })

export const throttled = (): Error =>
  new ProvisionedThroughputExceededException({ $metadata: {}, message: 'Too many requests' })

export const unavailable = (): Error =>
  Object.assign(new Error('Service is not available'), {
    name: 'ServiceUnavailable',
    $metadata: { httpStatusCode: 503 },
  })

const cancelled = (writes: number, position: number, Code: string): Error =>
  new TransactionCanceledException({
    $metadata: {},
    message: 'Transaction cancelled',
    CancellationReasons: Array.from({ length: writes }, (_, index) => ({
      Code: index === position ? Code : 'None',
    })),
  })

export const conflicting = (writes: number | undefined, random: Random): Error =>
  writes === undefined
    ? new TransactionConflictException({ $metadata: {}, message: 'Transaction is ongoing' })
    : cancelled(writes, random.below(writes), 'TransactionConflict')

export const throttledTransaction = (writes: number, random: Random): Error =>
  cancelled(writes, random.below(writes), 'ThrottlingError')
