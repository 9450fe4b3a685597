import { type AccountAtBank, accountLookups } from '../banks/accounts.ts'
import { ConnectorFault } from '../banks/connector.ts'
import type { Bank, BankIdentifier } from '../domain/banks/bank.ts'
import type { PhoneNumber } from '../domain/phone.ts'
import type { ProviderId } from '../domain/providers/provider.ts'
import { log } from '../log.ts'
import type { Runtime } from '../runtime.ts'
import { connectionConfig } from '../store/banks/connector-settings.ts'
import { bankHealth } from '../store/banks/health.ts'
import { isRecentMiss, putFoundAccount, putMiss } from '../store/banks/unknown-numbers.ts'
import { ttlCache } from '../store/cache.ts'
import { countUnknownNumber } from '../store/providers/daily-use.ts'

/** Asks a bank for the account of a number that is unknown here (docs/api.md#charge). */

const TIMEOUT_SECONDS = 2

/** The banks that did not answer in time a moment ago. A question to each would keep this worker from other charges. */
const late = ttlCache<true>(100)
const isLate = (bank: BankIdentifier, at: Date) => late(bank, at, async () => undefined)

type UnknownNumber = { bank: Bank; phone: PhoneNumber; provider: ProviderId; at: Date }

/** A word, because a bundle loads this file with its own copy of the class of refusals. */
export type Answer = 'found' | 'none' | 'silent'

/** Stores the account that a bank has found. */
export const askBank = async (
  { bank, phone, provider, at }: UnknownNumber,
  runtime: Runtime,
): Promise<Answer> => {
  const { identifier } = bank
  const isMissed = await isRecentMiss(identifier, phone, at)
  const found = isMissed ? undefined : await lookUp(bank, phone, at, runtime)
  if (found === 'silent') return found
  if (found) {
    await putFoundAccount(phone, identifier, found, at, runtime)
    return 'found'
  }
  if (!isMissed) await putMiss(identifier, phone, at)
  await countUnknownNumber(provider, at)
  return 'none'
}

const lookUp = async (
  { identifier, connector }: Bank,
  phone: PhoneNumber,
  at: Date,
  runtime: Runtime,
): Promise<AccountAtBank | 'silent' | undefined> => {
  if (connector === 'none') return undefined
  // Each charge would wait for the timeout.
  if (await isLate(identifier, at)) return 'silent'
  if ((await bankHealth(identifier, at)).state === 'down') return 'silent'
  try {
    const lookups = accountLookups(connectionConfig(runtime, TIMEOUT_SECONDS))
    return await lookups[connector](identifier, phone)
  } catch (error) {
    if (!(error instanceof ConnectorFault)) throw error
    if (error.code === 2408) late.set(identifier, true, at)
    log.warn('bank does not answer for an account', { bank: identifier, error })
    return 'silent'
  }
}
