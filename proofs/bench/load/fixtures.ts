import { saveBank } from '../../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier, CustomerAccount } from '../../../shared/domain/banks/bank.ts'
import { pesewas } from '../../../shared/domain/money.ts'
import type { PaidProvider, ProviderId } from '../../../shared/domain/providers/provider.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { real } from '../../../shared/runtime.ts'
import { putAccount } from '../../../shared/store/banks/banks.ts'
import { putCredential } from '../../../shared/store/providers/credentials.ts'
import { changePaidProvider } from '../../../shared/store/providers/providers.ts'
import { noWrites } from '../../../shared/store/settings.ts'
import { changeWebhook } from '../../../shared/store/webhooks/webhooks.ts'
import { webhookSecret } from '../../../shared/webhooks/http/signature.ts'
import { tokenOf } from '../../simulation/peers/api.ts'

/** One bank, one customer, and any number of providers with webhooks. */

export const BANK = 'BNK' as BankIdentifier
export const PHONE = '+233241234567'

/** No request limit is reached. */
const UNLIMITED = 10_000_000

export const providerId = (index: number) => `provider-${index}` as ProviderId
export const hostOf = (name: string): string => `${name.toLowerCase()}.example`

const writeBank = (createdAt: string): Promise<unknown>[] => {
  const bank: Bank = {
    identifier: BANK,
    name: 'Bank',
    countryCode: 'GH',
    status: 'live',
    connector: 'http',
    connectorType: 'both',
    requestLimits: { 'update-debit-transaction': UNLIMITED },
  }
  const options = { 'connector-url': `https://${hostOf(BANK)}`, 'connector-secret': 'cs_bench' }
  const account: CustomerAccount = {
    customerName: 'Ama Mensah',
    accountNumber: '1041001001',
    accountType: 'savings',
    status: 'active',
  }
  return [
    saveBank({ identifier: BANK, change: () => bank, options }, real),
    putCredential(
      tokenOf({ kind: 'bank', id: BANK }),
      { kind: 'bank', owner: BANK, createdAt },
      [],
      real,
    ),
    putAccount(PHONE, BANK, account, noWrites, real),
  ]
}

const writeProvider = (id: ProviderId, since: Date): Promise<unknown>[] => {
  const provider: PaidProvider = {
    id,
    name: id,
    status: 'active',
    duplicates: 'return',
    // A daily limit that no run reaches: a provider without one has no day total to write.
    dailyLimit: pesewas(100_000_000_00),
    feeSchedule: { basisPoints: 150, fixed: pesewas(0) },
    settlementAccount: { bank: BANK, accountNumber: '1041001001', accountName: id },
    payoutsHeldUntil: undefined,
    requestLimits: { charge: UNLIMITED },
  }
  const webhook: Webhook = {
    url: `https://${hostOf(id)}/hooks`,
    secret: webhookSecret(Buffer.alloc(32, 1)),
    timeoutSeconds: 10,
    connectionTimeoutSeconds: 5,
    since,
  }
  const credential = { kind: 'provider', owner: id, createdAt: since.toISOString() } as const
  return [
    changePaidProvider(id, () => provider, noWrites, real),
    putCredential(tokenOf({ kind: 'provider', id }), credential, [], real),
    changeWebhook(id, () => webhook, noWrites, real),
  ]
}

export const writeFixtures = async (at: Date, providers: number): Promise<void> => {
  const ids = Array.from({ length: providers }, (_, index) => providerId(index))
  await Promise.all([...writeBank(at.toISOString()), ...ids.flatMap((id) => writeProvider(id, at))])
}
