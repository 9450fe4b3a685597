import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { type Debit, stateAt } from '../../domain/debits/debit.ts'
import { type Reference, readReference, referenceOfUuid } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { environment } from '../../runtime.ts'
import { keys } from '../keys.ts'
import * as db from '../table.ts'
import { fromDebitItem } from './debit-item.ts'

export const findDebit = (reference: Reference) => db.find(keys.debit(reference), fromDebitItem)

/** Handles a debit whose item cannot be parsed. */
export type Unreadable = (reference: Reference, error: Error) => void

export const rethrow: Unreadable = (_, error) => {
  throw error
}

/** Parses the item of a debit. @throws Error also if its history cannot be replayed */
export const readDebit = (item: db.Item): Debit => {
  const debit = fromDebitItem(item)
  stateAt(debit)
  return debit
}

/** @param unreadable handles each debit that cannot be parsed, so that the others are returned */
export const findDebits = async (
  references: readonly Reference[],
  unreadable: Unreadable = rethrow,
  options: { isConsistent?: boolean } = {},
): Promise<Map<Reference, Debit>> => {
  const items = await db.readMany(references.map(keys.debit), options)
  const debits = new Map<Reference, Debit>()
  for (const item of items) {
    const reference = String(item.pk).slice('DEBIT#'.length) as Reference
    try {
      debits.set(reference, readDebit(item))
    } catch (error) {
      unreadable(reference, error as Error)
    }
  }
  return debits
}

/** Reads a debit of a provider. Debits of other providers do not exist (docs/api.md#not-found). */
export const findProviderDebit = async (provider: ProviderId, reference: string | undefined) => {
  const valid = readReference(reference)
  const debit = valid && (await findDebit(valid))
  return debit?.facts.provider === provider ? debit : undefined
}

export const findByOwnReference = async (provider: ProviderId, partnerReference: string) => {
  const claim = await db.read<{ reference: Reference }>(
    keys.partnerReference(provider, partnerReference),
  )
  return claim && findProviderDebit(provider, claim.reference)
}

/** Reads a debit by its uuid. A uuid that the service did not create costs no read. */
export const findByUuid = async (uuid: string | undefined) => {
  const reference = referenceOfUuid(environment.referencePrefix, uuid)
  return reference && findDebit(reference)
}

/** Reads a debit of a bank by its uuid. */
export const findBankDebit = async (bank: BankIdentifier, uuid: string | undefined) => {
  const debit = await findByUuid(uuid)
  return debit?.facts.bank.identifier === bank ? debit : undefined
}
