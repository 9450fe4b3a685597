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

const rethrow: Unreadable = (_, error) => {
  throw error
}

/** @param unreadable handles each debit that cannot be parsed, so that the others are returned */
export const findDebits = async (
  references: readonly Reference[],
  unreadable: Unreadable = rethrow,
): Promise<Map<Reference, Debit>> => {
  const items = await db.readMany(references.map(keys.debit))
  const debits = new Map<Reference, Debit>()
  for (const item of items) {
    const reference = String(item.pk).slice('DEBIT#'.length) as Reference
    try {
      const debit = fromDebitItem(item)
      // Throws if the history cannot be replayed.
      stateAt(debit)
      debits.set(reference, debit)
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

/** Reads a debit of a bank by its uuid. A uuid that the service did not create costs no read. */
export const findBankDebit = async (bank: BankIdentifier, uuid: string | undefined) => {
  const reference = referenceOfUuid(environment.referencePrefix, uuid)
  const debit = reference && (await findDebit(reference))
  return debit?.facts.bank.identifier === bank ? debit : undefined
}
