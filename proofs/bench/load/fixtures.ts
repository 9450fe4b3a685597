import type { Bank, BankIdentifier } from '../../../shared/domain/banks/bank.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import type { PaidProvider, ProviderId } from '../../../shared/domain/providers/provider.ts'
import { webhookSecret } from '../../../shared/webhooks/http/signature.ts'
import { writeBank, writeProvider } from '../../simulation/scenario/fixtures.ts'

/** One bank, one customer, and any number of providers with webhooks. */

export const BANK = 'BNK' as BankIdentifier
export const PHONE = '+233241234567'
const ACCOUNT = '1041001001'

/** No request limit is reached. */
const UNLIMITED = 10_000_000

export const providerId = (index: number) => `provider-${index}` as ProviderId
export const hostOf = (name: string): string => `${name.toLowerCase()}.example`

const bank: Bank = {
  identifier: BANK,
  name: 'Bank',
  countryCode: 'GH',
  status: 'live',
  connector: 'http',
  connectorType: 'both',
  requestLimits: { 'update-debit-transaction': UNLIMITED },
}

const connector = { 'connector-url': `https://${hostOf(BANK)}`, 'connector-secret': 'cs_bench' }

const providerOf = (id: ProviderId): PaidProvider => ({
  id,
  name: id,
  status: 'active',
  duplicates: 'return',
  // A daily limit that no run reaches: a provider without one has no day total to write.
  dailyLimit: pesewas(100_000_000_00),
  feeSchedule: { basisPoints: 150, fixed: pesewas(0) },
  settlementAccount: { bank: BANK, accountNumber: ACCOUNT, accountName: id },
  payoutsHeldUntil: undefined,
  requestLimits: { charge: UNLIMITED },
})

export const writeFixtures = async (at: Date, providers: number): Promise<void> => {
  const ids = Array.from({ length: providers }, (_, index) => providerId(index))
  const secret = webhookSecret(Buffer.alloc(32, 1))
  await Promise.all([
    ...writeBank(bank, connector, { [PHONE]: ACCOUNT }, at),
    ...ids.flatMap((id) =>
      writeProvider(
        providerOf(id),
        { webhook: { url: `https://${hostOf(id)}/hooks`, secret } },
        at,
      ),
    ),
  ])
}
