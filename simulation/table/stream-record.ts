import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import type { DynamoDBRecord, StreamRecord } from 'aws-lambda'
import type { Change, Item } from '../engine/observations.ts'

/** Items in the form of the wire, and the records of the stream that hold them. */

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
      return Array.isArray(value) ? { L: value.map(imageOf) } : { M: marshalled(value as object) }
  }
}

/** The document client's own marshalling does the same at several times the price. */
export const marshalled = (item: object): Record<string, AttributeValue> => {
  const image: Record<string, AttributeValue> = {}
  for (const name in item) image[name] = imageOf((item as Record<string, unknown>)[name])
  return image
}

const SEQUENCE_DIGITS = 21
const ID_DIGITS = 32

/** A committed change as the table's stream brings it to a function. */
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
      ...(after ? { NewImage: marshalled(after) as StreamRecord['NewImage'] } : {}),
      ...(before ? { OldImage: marshalled(before) as StreamRecord['OldImage'] } : {}),
      SequenceNumber: String(sequence).padStart(SEQUENCE_DIGITS, '0'),
      StreamViewType: 'NEW_AND_OLD_IMAGES',
    } as StreamRecord,
  }
}
