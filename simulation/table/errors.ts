import {
  type AttributeValue,
  type CancellationReason,
  ConditionalCheckFailedException,
  DynamoDBServiceException,
  IdempotentParameterMismatchException,
  ResourceNotFoundException,
  TransactionCanceledException,
} from '@aws-sdk/client-dynamodb'

/** What DynamoDB throws, as the SDK hands it to its caller. */

const $metadata = { httpStatusCode: 400, attempts: 1, totalRetryDelay: 0 }

/** The SDK has no class of its own for it. */
export const invalid = (message: string): DynamoDBServiceException =>
  new DynamoDBServiceException({
    name: 'ValidationException',
    $fault: 'client',
    $metadata,
    message,
  })

const CONDITION = 'The conditional request failed'

/** @param item as it stands, in the form of the wire, where it was asked for */
export const conditionFailed = (
  item?: Record<string, AttributeValue>,
): ConditionalCheckFailedException =>
  new ConditionalCheckFailedException({
    $metadata,
    message: CONDITION,
    ...(item ? { Item: item } : {}),
  })

/** Why one write of a transaction did not happen. */
export const reasonOf = (error: unknown): CancellationReason => {
  if (error instanceof ConditionalCheckFailedException) {
    const { Item } = error
    return { Code: 'ConditionalCheckFailed', Message: CONDITION, ...(Item ? { Item } : {}) }
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

export const otherParameters = (): IdempotentParameterMismatchException =>
  new IdempotentParameterMismatchException({
    $metadata,
    message: 'The same client request token came with other parameters',
    Message: undefined,
  })

export const noSuchTable = (): ResourceNotFoundException =>
  new ResourceNotFoundException({
    $metadata,
    message: 'Cannot do operations on a non-existent table',
  })
