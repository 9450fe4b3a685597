import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'
import { isObject } from '../../shared/domain/json.ts'

/** Converts between DynamoDB's JSON protocol and commands of the document client. */

const commands: Record<string, string> = {
  GetItem: 'GetCommand',
  PutItem: 'PutCommand',
  UpdateItem: 'UpdateCommand',
  DeleteItem: 'DeleteCommand',
  Query: 'QueryCommand',
  BatchGetItem: 'BatchGetCommand',
  TransactWriteItems: 'TransactWriteCommand',
}

export const documentCommand = (operation: string): string => commands[operation] ?? operation

type Attributes = Record<string, unknown>

const mapMembers = (members: Attributes, map: (value: unknown) => unknown): Attributes =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]))

const valueTypes: Record<string, (value: unknown) => boolean> = {
  S: (value) => typeof value === 'string',
  N: (value) => typeof value === 'string',
  BOOL: (value) => typeof value === 'boolean',
  NULL: (value) => value === true,
  L: Array.isArray,
  M: isObject,
}

/** Returns whether the map is a value such as `{S: 'text'}`; an item has at least two attributes. */
const isAttributeValue = (value: Attributes): boolean => {
  const [[type = '', content] = [], second] = Object.entries(value)
  return second === undefined && valueTypes[type]?.(content) === true
}

/** Converts the attribute values of a request. */
export const documentInput = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(documentInput)
  if (!isObject(value)) return value
  if (isAttributeValue(value)) return unmarshall({ value: value as never }).value
  return mapMembers(value, documentInput)
}

const marshallItem = (item: unknown): unknown => marshall(item as Attributes)
const marshallList = (items: unknown): unknown => (items as unknown[]).map(marshallItem)

const outputMembers: Record<string, (value: unknown) => unknown> = {
  Item: marshallItem,
  Attributes: marshallItem,
  LastEvaluatedKey: marshallItem,
  Items: marshallList,
  Responses: (tables) => mapMembers(tables as Attributes, marshallList),
}

/** Converts the items of a response. */
export const wireOutput = (output: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => [name, outputMembers[name]?.(value) ?? value]),
  )
