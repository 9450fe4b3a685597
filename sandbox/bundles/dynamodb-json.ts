import { marshall, unmarshall } from '@aws-sdk/util-dynamodb'

/** DynamoDB's JSON protocol, as calls of the document client. */

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

const entriesMapped = (members: Attributes, map: (value: unknown) => unknown): Attributes =>
  Object.fromEntries(Object.entries(members).map(([name, value]) => [name, map(value)]))

const isMap = (value: unknown): value is Attributes =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const valueTypes: Record<string, (value: unknown) => boolean> = {
  S: (value) => typeof value === 'string',
  N: (value) => typeof value === 'string',
  BOOL: (value) => typeof value === 'boolean',
  NULL: (value) => value === true,
  L: Array.isArray,
  M: isMap,
}

/** Whether it is a value like `{S: 'text'}`. An item is none: it has two keys at least. */
const isAttributeValue = (value: Attributes): boolean => {
  const [[type = '', content] = [], second] = Object.entries(value)
  return second === undefined && valueTypes[type]?.(content) === true
}

/** Converts the attribute values of a request. */
export const documentInput = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(documentInput)
  if (!isMap(value)) return value
  if (isAttributeValue(value)) return unmarshall({ value: value as never }).value
  return entriesMapped(value, documentInput)
}

const marshalled = (item: unknown): unknown => marshall(item as Attributes)
const marshalledList = (items: unknown): unknown => (items as unknown[]).map(marshalled)

const outputMembers: Record<string, (value: unknown) => unknown> = {
  Item: marshalled,
  Attributes: marshalled,
  LastEvaluatedKey: marshalled,
  Items: marshalledList,
  Responses: (tables) => entriesMapped(tables as Attributes, marshalledList),
}

/** Converts the items of a response. */
export const wireOutput = (output: Attributes): Attributes =>
  Object.fromEntries(
    Object.entries(output).map(([name, value]) => [name, outputMembers[name]?.(value) ?? value]),
  )
