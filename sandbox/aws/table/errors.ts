import {
  type CancellationReason,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  IdempotentParameterMismatchException,
  ResourceNotFoundException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'

/** The errors of DynamoDB, as the SDK throws them. */

const $metadata = { httpStatusCode: 400, attempts: 1, totalRetryDelay: 0 }

/** Stops the run: the simulated table implements only what the product sends. */
export const unsupported = (feature: string): Error =>
  new Error(`The simulated table does not support ${feature}`)

/** The SDK has no class for a ValidationException. */
export const invalid = (message: string): DynamoDBServiceException =>
  new DynamoDBServiceException({
    name: 'ValidationException',
    $fault: 'client',
    $metadata,
    message,
  })

const CONDITION = 'The conditional request failed'

export const conditionFailed = (): ConditionalCheckFailedException =>
  new ConditionalCheckFailedException({ $metadata, message: CONDITION })

/** Returns why one write of a transaction failed. */
export const reasonOf = (error: unknown): CancellationReason => {
  if (error instanceof ConditionalCheckFailedException) {
    return { Code: 'ConditionalCheckFailed', Message: CONDITION }
  }
  if (error instanceof DynamoDBServiceException && error.name === 'ValidationException') {
    return { Code: 'ValidationError', Message: error.message }
  }
  throw error
}

export const cancelled = (reasons: CancellationReason[]): TransactionCanceledException =>
  new TransactionCanceledException({
    $metadata,
    message: `Transaction cancelled, please refer cancellation reasons for specific reasons [${reasons
      .map(({ Code }) => Code)
      .join(', ')}]`,
    CancellationReasons: reasons,
  })

export const tokenMismatch = (): IdempotentParameterMismatchException =>
  new IdempotentParameterMismatchException({
    $metadata,
    message: 'The client request token was used with other parameters',
    Message: undefined,
  })

export const noSuchTable = (): ResourceNotFoundException =>
  new ResourceNotFoundException({
    $metadata,
    message: 'Cannot do operations on a non-existent table',
  })
