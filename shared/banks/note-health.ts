import type { BankIdentifier } from '../domain/banks/bank.ts'
import type { BankHealth } from '../domain/banks/health.ts'
import { log } from '../log.ts'
import { changeBankHealth } from '../store/banks/health.ts'

/** Notes a reply or failure of a bank, and logs a change of its state. A lost note never fails its request. */
export const noteHealth = async (
  bank: BankIdentifier,
  change: (health: BankHealth) => BankHealth,
  now: Date,
): Promise<void> => {
  try {
    const { previous, next } = await changeBankHealth(bank, change, now)
    if (next.state !== previous.state) log.warn(`bank is ${next.state}`, { bank })
  } catch (error) {
    log.warn('health of the bank not noted', { bank, error: error as Error })
  }
}
