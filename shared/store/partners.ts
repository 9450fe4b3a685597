import { PutCommand } from '@aws-sdk/lib-dynamodb'
import type { Partner, PartnerId } from '../domain/partner.ts'
import { keys, read, table, tableName, withoutKeys } from './table.ts'

export const findPartner = async (id: PartnerId): Promise<Partner | undefined> => {
  const item = await read<Record<string, unknown>>(keys.partner(id))
  return item && withoutKeys<Partner>(item)
}

export const putPartner = async (partner: Partner): Promise<void> => {
  await table.send(
    new PutCommand({
      TableName: tableName(),
      Item: { ...keys.partner(partner.id), entity: 'partner', ...partner },
    }),
  )
}
