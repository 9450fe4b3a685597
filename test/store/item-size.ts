import type { AttributeValue } from '@aws-sdk/client-dynamodb'
import { marshall } from '@aws-sdk/util-dynamodb'

/**
 * The bytes of an item as DynamoDB counts them, by which it charges: names and text in UTF-8, two
 * digits to the byte, three bytes for a list or a map and one for each member.
 */
export const itemSize = (item: Record<string, unknown>): number =>
  membersSize(marshall(item, { removeUndefinedValues: true }))

const membersSize = (members: Record<string, AttributeValue>): number =>
  sum(Object.entries(members).map(([name, value]) => Buffer.byteLength(name) + valueSize(value)))

const valueSize = (value: AttributeValue): number => {
  if (value.S !== undefined) return Buffer.byteLength(value.S)
  if (value.N !== undefined) return Math.ceil(value.N.replace(/\D/g, '').length / 2) + 1
  if (value.L) return 3 + sum(value.L.map((member) => 1 + valueSize(member)))
  if (value.M) return 3 + Object.keys(value.M).length + membersSize(value.M)
  return 1
}

const sum = (sizes: readonly number[]): number => sizes.reduce((total, size) => total + size, 0)
