import { createHash } from 'node:crypto'
import type { TransactWriteCommandInput } from '@aws-sdk/lib-dynamodb'
import type { ChargeBody } from './charge.ts'

/** What the usual charge writes in its one transaction: an item for each concern. */

type Writing = {
  TableName: string
  body: ChargeBody
  bank: Record<string, unknown>
  provider: Record<string, unknown>
  reference: string
  uuid: string
  requestId: string
  now: Date
}

export const itemsOf = (writing: Writing): TransactWriteCommandInput['TransactItems'] => {
  const { TableName, body, provider, reference, uuid } = writing
  const hash = createHash('sha256').update(body.partner_reference).digest('base64url')
  const put = (Item: Record<string, unknown>) => ({
    Put: { TableName, Item, ConditionExpression: 'attribute_not_exists(pk)' },
  })
  return [
    put(transactionItem(writing)),
    put({ pk: `PROVIDER#${provider.id}#${hash}`, sk: 'PARTNER_REFERENCE', reference }),
    put({ pk: `UUID#${uuid}`, sk: 'UUID', reference }),
    ...['created', 'pending'].map((type, n) => put(eventItem(writing, type, n))),
    ...['created', 'pending'].map((action, n) => put(auditItem(writing, action, n))),
    dayTotalUpdate(writing),
  ]
}

/** In the indexes that lists and the sweep need, as ours. */
const transactionItem = ({ body, bank, provider, reference, uuid, now }: Writing) => {
  const createdAt = now.toISOString()
  return {
    pk: `DEBIT#${reference}`,
    sk: 'DEBIT',
    entity: 'transaction',
    byStatus: `${provider.id}#pending`,
    byCustomer: `${bank.identifier}#${body.phone_number}`,
    byTime: `${createdAt}#${reference}`,
    work: 'OPEN',
    due: createdAt,
    reference,
    uuid,
    provider: provider.id,
    partnerReference: body.partner_reference,
    bank: { identifier: bank.identifier, name: bank.name },
    phone: body.phone_number,
    amount: Number(body.amount.replace('.', '')),
    currency: body.currency,
    narration: body.narration,
    metadata: body.metadata,
    status: 'pending',
    version: 1,
    createdAt,
    updatedAt: createdAt,
  }
}

const eventItem = ({ reference, uuid, provider, body, now }: Writing, type: string, n: number) => ({
  pk: `DEBIT#${reference}`,
  sk: `EVENT#${String(n).padStart(4, '0')}`,
  entity: 'event',
  type: `transaction.${type}`,
  provider: provider.id,
  uuid,
  status: type,
  amount: Number(body.amount.replace('.', '')),
  at: now.toISOString(),
})

const auditItem = (
  { reference, requestId, provider, now }: Writing,
  action: string,
  n: number,
) => ({
  pk: `DEBIT#${reference}`,
  sk: `AUDIT#${String(n).padStart(4, '0')}`,
  entity: 'audit',
  action,
  actor: `provider:${provider.id}`,
  requestId,
  from: n === 0 ? null : 'created',
  to: action,
  at: now.toISOString(),
})

const dayTotalUpdate = ({ TableName, body, provider, now }: Writing) => {
  const amount = Number(body.amount.replace('.', ''))
  return {
    Update: {
      TableName,
      Key: { pk: `PROVIDER#${provider.id}`, sk: `TOTAL#${now.toISOString().slice(0, 10)}` },
      UpdateExpression: 'ADD amountTotal :amount',
      ConditionExpression: 'attribute_not_exists(amountTotal) OR amountTotal <= :room',
      ExpressionAttributeValues: {
        ':amount': amount,
        ':room': Number(provider.dailyLimit) - amount,
      },
    },
  }
}
