import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { DynamoDBRecord, StreamRecord } from 'aws-lambda'
import type { Change, Item } from './change.ts'

const NULL: AttributeValue = Object.freeze({ NULL: true as const })

const imageOf = (value: unknown): AttributeValue => {
  switch (typeof value) {
    case 'string':
      return { S: value }
    case 'number':
      return { N: String(value) }
    case 'boolean':
      return { BOOL: value }
    default:
      if (value === null) return NULL
      return Array.isArray(value) ? { L: value.map(imageOf) } : { M: marshall(value as object) }
  }
}

/** Marshalls several times faster than the document client. */
export const marshall = (item: object): Record<string, AttributeValue> => {
  const image: Record<string, AttributeValue> = {}
  for (const name in item) image[name] = imageOf((item as Record<string, unknown>)[name])
  return image
}

const SEQUENCE_DIGITS = 21
const ID_DIGITS = 32

export const streamRecord = ({ sequence, at, before, after }: Change): DynamoDBRecord => {
  const { pk, sk } = (after ?? before) as Item
  return {
    eventID: sequence.toString(16).padStart(ID_DIGITS, '0'),
    eventName: before ? (after ? 'MODIFY' : 'REMOVE') : 'INSERT',
    eventVersion: '1.1',
    eventSource: 'aws:dynamodb',
    awsRegion: 'eu-west-1',
    dynamodb: {
      ApproximateCreationDateTime: Math.floor(at / 1000),
      Keys: { pk: { S: pk }, sk: { S: sk } },
      ...(after ? { NewImage: marshall(after) as StreamRecord['NewImage'] } : {}),
      ...(before ? { OldImage: marshall(before) as StreamRecord['OldImage'] } : {}),
      SequenceNumber: String(sequence).padStart(SEQUENCE_DIGITS, '0'),
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    } as StreamRecord,
  }
}
