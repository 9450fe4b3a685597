import { UpdateCommand } from '@aws-sdk/lib-dynamodb'
import type { BankIdentifier } from '../domain/bank.ts'
import type { BankCallback } from '../domain/bank-update.ts'
import type { Cause, Debit } from '../domain/debit.ts'
import type { Pesewas } from '../domain/money.ts'
import type { PartnerId } from '../domain/partner.ts'
import type { Reference } from '../domain/reference.ts'
import {
  held,
  keys,
  put,
  queryAll,
  queryPages,
  readCollection,
  readMany,
  table,
  tableName,
  withoutKeys,
} from './table.ts'

/**
 * A bank says that it debited a customer after the debit had failed here: somebody's money, which
 * a person must look after. One record for each such report.
 */
export const putLateCompletion = (
  { facts }: Debit,
  report: BankCallback,
  { at, by, requestId }: Cause,
): Promise<void> =>
  put(keys.lateCompletion(facts.reference, requestId), 'late-completion', {
    reference: facts.reference,
    partner: facts.partner,
    bank: facts.bank.identifier,
    amount: facts.amount,
    bankReference: report.bank_reference,
    ...(report.fee === undefined ? {} : { fee: report.fee }),
    at: at.toISOString(),
    by,
    requestId,
    byStatus: keys.lateCompletions,
    byTime: keys.byTime(at, facts.reference),
  })

export type LateCompletion = {
  reference: Reference
  partner: PartnerId
  bank: BankIdentifier
  amount: Pesewas
  bankReference: string
  fee?: Pesewas
  at: Date
  by: string
  requestId: string
  /** Somebody has given the money back, and says how. */
  resolvedAt?: string
  note?: string
}

/** The newest such reports, newest first; from an index, so a new one shows a little late. */
export const listLateCompletions = async (limit: number): Promise<LateCompletion[]> => {
  const found = await queryAll({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :late',
    ExpressionAttributeValues: { ':late': keys.lateCompletions },
    ScanIndexForward: false,
    Limit: limit,
  })
  return (await load(found)).sort((one, other) => other.at.getTime() - one.at.getTime())
}

const load = async (found: readonly Record<string, unknown>[]): Promise<LateCompletion[]> => {
  const items = await readMany(found.map(({ pk, sk }) => ({ pk: String(pk), sk: String(sk) })))
  return items.map(fromItem)
}

const fromItem = (item: Record<string, unknown>): LateCompletion => {
  const { byStatus, byTime, at, ...late } = withoutKeys<
    Omit<LateCompletion, 'at'> & Record<'byStatus' | 'byTime' | 'at', string>
  >(item)
  return { ...late, at: new Date(at) }
}

/** What was reported of one debit. */
export const findLateCompletions = async (reference: Reference): Promise<LateCompletion[]> => {
  const { pk, prefix } = keys.lateCompletionsOf(reference)
  return (await readCollection(pk, prefix)).map(fromItem)
}

/** What was noted first stays. */
export const resolveLateCompletion = async (
  { reference, requestId }: Pick<LateCompletion, 'reference' | 'requestId'>,
  { note, resolvedAt }: { note: string; resolvedAt: string },
): Promise<void> => {
  await held(
    table.send(
      new UpdateCommand({
        TableName: tableName(),
        Key: keys.lateCompletion(reference, requestId),
        UpdateExpression: 'SET resolvedAt = :at, note = :note',
        ConditionExpression: 'attribute_exists(pk) AND attribute_not_exists(resolvedAt)',
        ExpressionAttributeValues: { ':at': resolvedAt, ':note': note },
      }),
    ),
  )
}

const PAGE_SIZE = 100

/** Those reported in a span of time, page by page. */
export async function* lateCompletionPages({
  from,
  before,
}: {
  from: Date
  before: Date
}): AsyncGenerator<LateCompletion[]> {
  const pages = queryPages({
    IndexName: 'by-status',
    KeyConditionExpression: 'byStatus = :late AND byTime BETWEEN :from AND :before',
    ExpressionAttributeValues: {
      ':late': keys.lateCompletions,
      ':from': from.toISOString(),
      ':before': before.toISOString(),
    },
    Limit: PAGE_SIZE,
  })
  for await (const page of pages) yield load(page)
}
