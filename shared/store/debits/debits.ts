import type { BankIdentifier } from '../../domain/banks/bank.ts'
import { assumeProcessing, type Debit, type Facts, stateAt } from '../../domain/debits/debit.ts'
import type { Reference, Uuid } from '../../domain/ids.ts'
import type { ProviderId } from '../../domain/providers/provider.ts'
import { keys } from '../keys.ts'
import { read, readMany, withoutKeys } from '../table.ts'
import { fromDebitItem } from './debit-item.ts'

/** The debit as it stands, strongly consistent. */
export const findDebit = async (reference: Reference): Promise<Debit | undefined> => {
  const item = await read<Record<string, unknown>>(keys.debit(reference))
  return item && fromDebitItem(item)
}

/** Takes a debit whose item cannot be read. */
export type Unreadable = (reference: Reference, error: Error) => void

const rethrow: Unreadable = (_, error) => {
  throw error
}

/**
 * Reads many debits at once, strongly consistent; what does not exist is left out.
 * @param unreadable takes each debit whose item cannot be read, so that it hides no other
 */
export const findDebits = async (
  references: readonly Reference[],
  unreadable: Unreadable = rethrow,
): Promise<Map<Reference, Debit>> => {
  const items = await readMany([...new Set(references)].map(keys.debit))
  const debits = new Map<Reference, Debit>()
  for (const item of items) {
    const reference = String(item.pk).slice('DEBIT#'.length) as Reference
    try {
      const debit = fromDebitItem(item)
      // A history that cannot be replayed is unreadable as well.
      stateAt(debit)
      debits.set(reference, debit)
    } catch (error) {
      unreadable(reference, error as Error)
    }
  }
  return debits
}

/** The same, for a provider: what belongs to another does not exist. */
export const findProviderDebit = async (
  provider: ProviderId,
  reference: Reference,
): Promise<Debit | undefined> => {
  const debit = await findDebit(reference)
  return debit?.facts.provider === provider ? debit : undefined
}

/** The debit that a provider's own reference names, strongly consistent. */
export const findByOwnReference = async (
  provider: ProviderId,
  partnerReference: string,
): Promise<Debit | undefined> => {
  const claim = await read<{ reference: Reference }>(
    keys.partnerReference(provider, partnerReference),
  )
  return claim && findProviderDebit(provider, claim.reference)
}

/**
 * What a bank's uuid points to, by the copy of its facts that the pointer holds: one read. The
 * state is presumed, and whoever writes by it is told when it was another.
 */
export const findBankDebitByUuid = async (
  bank: BankIdentifier,
  uuid: Uuid,
): Promise<Debit | undefined> => {
  const pointer = await read<Record<string, unknown>>(keys.uuid(uuid))
  const presumed = pointer && assumeProcessing(withoutKeys<Omit<Facts, 'metadata'>>(pointer))
  return presumed?.facts.bank.identifier === bank ? presumed : undefined
}
