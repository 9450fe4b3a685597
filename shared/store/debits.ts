import type { BankIdentifier } from '../domain/bank.ts'
import type { Debit } from '../domain/debit.ts'
import type { PartnerId } from '../domain/partner.ts'
import type { Reference, Uuid } from '../domain/reference.ts'
import { fromDebitItem } from './debit-item.ts'
import { keys, read } from './table.ts'

/** The debit as it stands, strongly consistent. */
export const findDebit = async (reference: Reference): Promise<Debit | undefined> => {
  const item = await read<Record<string, unknown>>(keys.debit(reference))
  return item && fromDebitItem(item)
}

/** The same, for a partner: what belongs to another does not exist. */
export const findPartnerDebit = async (
  partner: PartnerId,
  reference: Reference,
): Promise<Debit | undefined> => {
  const debit = await findDebit(reference)
  return debit?.facts.partner === partner ? debit : undefined
}

/** The same, for a bank, by the uuid that bank-facing paths carry. */
export const findBankDebit = async (
  bank: BankIdentifier,
  uuid: Uuid,
): Promise<Debit | undefined> => {
  const pointer = await read<{ reference: Reference }>(keys.uuid(uuid))
  const debit = pointer && (await findDebit(pointer.reference))
  return debit?.facts.bank.identifier === bank ? debit : undefined
}
