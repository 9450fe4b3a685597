import { type AccountAtBank, accountLookups } from '../banks/accounts.ts'
import { ConnectorFault } from '../banks/connector.ts'
import type { Bank } from '../domain/banks/bank.ts'
import { noAccount, retryLater } from '../domain/debits/charge.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { Refusal } from '../domain/refusal.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { connectionConfig } from '../store/banks/connector-settings.ts'
import { bankHealth } from '../store/banks/health.ts'
import { isRecentMiss, putFoundAccount, putMiss } from '../store/banks/unknown-numbers.ts'
import { countUnknownNumber } from '../store/providers/daily-use.ts'

/** Asks a bank for the account of a number that is unknown here (docs/api.md#charge). */

const TIMEOUT_SECONDS = 2

export type UnknownNumber = { bank: Bank; phone: PhoneNumber; provider: ProviderId; at: Date }

/** @returns undefined if the bank has an account, which is stored then */
export const askBank = async (
  { bank, phone, provider, at }: UnknownNumber,
  runtime: Runtime,
): Promise<Refusal | undefined> => {
  const { identifier } = bank
  const isMissed = await isRecentMiss(identifier, phone, at)
  const found = isMissed ? undefined : await lookUp(bank, phone, at, runtime)
  if (found instanceof Refusal) return found
  if (found) {
    await putFoundAccount(phone, identifier, found, runtime)
    return undefined
  }
  if (!isMissed) await putMiss(identifier, phone, at)
  await countUnknownNumber(provider, at)
  return noAccount()
}

const silent = () => retryLater('does not answer')

const lookUp = async (
  { identifier, connector }: Bank,
  phone: PhoneNumber,
  at: Date,
  runtime: Runtime,
): Promise<AccountAtBank | Refusal | undefined> => {
  if (connector === 'none') return undefined
  // Each charge would wait for the timeout.
  if ((await bankHealth(identifier, at)).state === 'down') return silent()
  try {
    const lookups = accountLookups(connectionConfig(runtime, TIMEOUT_SECONDS))
    return await lookups[connector](identifier, phone)
  } catch (error) {
    if (!(error instanceof ConnectorFault)) throw error
    log.warn('bank does not answer for an account', { bank: identifier, error })
    return silent()
  }
}
