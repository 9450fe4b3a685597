import { type ConnectorOptions, saveBank } from '../../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier, CustomerAccount } from '../../../shared/domain/banks/bank.ts'
import type { PaidProvider, ProviderId } from '../../../shared/domain/providers/provider.ts'
import type { RequestLimits } from '../../../shared/domain/request-limits.ts'
import type { Webhook } from '../../../shared/domain/webhooks/webhook.ts'
import { real } from '../../../shared/runtime.ts'
import { putAccount } from '../../../shared/store/banks/banks.ts'
import { putCredential } from '../../../shared/store/providers/credentials.ts'
import { changePaidProvider } from '../../../shared/store/providers/providers.ts'
import { sealRequestSecret } from '../../../shared/store/providers/request-secrets.ts'
import { noWrites } from '../../../shared/store/settings.ts'
import { putSweepProgress } from '../../../shared/store/sweep-progress.ts'
import { changeWebhook } from '../../../shared/store/webhooks/webhooks.ts'
import { webhookSecret } from '../../../shared/webhooks/http/signature.ts'
import type { FeeSchedule, SimulatedProvider } from '../engine/observations.ts'
import { HOUR_MS } from '../invariants/time-and-money.ts'
import { requestSecrets, secondTokenOf, tokenOf } from '../peers/api.ts'
import { type BankName, bankNames, HTTP_BANKS } from './script.ts'

/** The providers, banks and customers of every run. */

/** The secrets that a bank has in turn. */
export const secretsOf = (bank: string) =>
  [`cs_simulated_${bank}`, `cs_simulated_2_${bank}`] as const

export const hostOf = (name: string): string => `${name.toLowerCase()}.simulated.example`

type Row = Pick<SimulatedProvider, 'id'> & {
  dailyLimit?: number
  fees?: FeeSchedule
  webhook?: { attemptsMax?: number; events?: NonNullable<Webhook['events']> }
}

const rows: readonly Row[] = [
  { id: 'amber', dailyLimit: 50_000_00, fees: { basisPoints: 150, fixed: 0 }, webhook: {} },
  {
    id: 'birch',
    // Low enough to reject charges.
    dailyLimit: 1_500_00,
    fees: { basisPoints: 125, fixed: 25, minimum: 50, maximum: 500 },
    webhook: {
      attemptsMax: 3,
      events: ['transaction.created', 'transaction.completed', 'transaction.failed'],
    },
  },
  { id: 'cedar' },
  {
    id: 'delta',
    dailyLimit: 50_000_00,
    fees: { basisPoints: 150, fixed: 10, minimum: 100 },
    webhook: { attemptsMax: 2 },
  },
  {
    id: 'ember',
    dailyLimit: 50_000_00,
    fees: { basisPoints: 150, fixed: 0, maximum: 300 },
    webhook: { events: ['transaction.completed', 'settlement.completed'] },
  },
]

/** The account number of providers at the start, and of some changes to another bank. */
export const ACCOUNT_NUMBER = '2000000000'

export const simulatedProviders: readonly SimulatedProvider[] = rows.map((row, index) => ({
  id: row.id,
  webhook: row.webhook && {
    url: `https://${hostOf(row.id)}/hooks`,
    secret: webhookSecret(Buffer.alloc(32, index + 1)),
    ...row.webhook,
  },
  dailyLimit: row.dailyLimit,
  feeSchedule: row.fees,
  requestSecret: requestSecrets[row.id],
  account: {
    bank: HTTP_BANKS[index % HTTP_BANKS.length] ?? '',
    number: ACCOUNT_NUMBER,
    name: `${row.id} Ltd`,
  },
}))

const providerOf = ({ id, dailyLimit, feeSchedule, account }: SimulatedProvider) =>
  ({
    id: id as ProviderId,
    name: id,
    status: 'active',
    duplicates: 'return',
    reversals: 'request',
    ...(dailyLimit === undefined ? {} : { dailyLimit }),
    ...(feeSchedule ? { feeSchedule } : {}),
    settlementAccount: {
      bank: account.bank,
      accountNumber: account.number,
      accountName: account.name,
    },
    // Changes of other settings keep them.
    allowedAddresses: ['203.0.113.0/24'],
    requestLimits: { 'list-banks': 100 } as RequestLimits,
    payoutsHeldUntil: undefined,
  }) as PaidProvider

/** Of one number no bank has an account; the accounts of another are closed for hours, then opened again. */
const isClosed = (phone: string, at: number): boolean =>
  phone.endsWith('3333333') || (phone.endsWith('1111111') && at % (8 * HOUR_MS) > 4 * HOUR_MS)

/** Returns what a bank answers about a number, also about one that the service does not know. */
export const accountAt = (bank: string, phone: string, at: number) =>
  isClosed(phone, at)
    ? undefined
    : {
        account_number: `${HTTP_BANKS.indexOf(bank as BankName)}${phone.slice(1)}`,
        name: bank,
        active: !phone.endsWith('5555555'),
      }

const bankOf = (identifier: BankIdentifier, { lookups, workingBanks }: Present): Bank => ({
  identifier,
  name: `Bank ${identifier}`,
  countryCode: 'GH',
  status: 'live',
  connector: identifier === 'SBX' ? 'sandbox' : 'http',
  connectorType: 'both',
  ...(lookups.includes(identifier) ? { accountLookup: 'on' } : {}),
  ...(workingBanks.includes(identifier) ? { payoutDays: 'working' } : {}),
})

export const customerAccounts: Readonly<Record<string, string>> = Object.fromEntries(
  ['+233241234567', '+233241111111', '+233245555555'].map((phone) => [phone, phone.slice(1)]),
)

export const writeBank = (
  bank: Bank,
  options: ConnectorOptions,
  accounts: Readonly<Record<string, string>>,
  createdAt: Date,
): Promise<unknown>[] => {
  const { identifier } = bank
  const kind = 'bank'
  const credential = { kind, owner: identifier, createdAt: createdAt.toISOString() } as const
  return [
    saveBank({ identifier, change: () => bank, options }, real),
    putCredential(tokenOf({ kind, id: identifier }), credential, [], real),
    ...Object.entries(accounts).map(([phone, accountNumber]) => {
      const customerName = 'Ama Ɔbaapa Mensah'
      const account = { customerName, accountNumber, accountType: 'savings', status: 'active' }
      return putAccount(phone, identifier, account as CustomerAccount, noWrites, real)
    }),
  ]
}

type Secrets = {
  webhook?: Pick<Webhook, 'url' | 'secret'> | undefined
  requestSecret?: string | undefined
}

const saveProvider = async (provider: PaidProvider, requestSecret: string | undefined) => {
  const { id } = provider
  const signing = requestSecret && {
    requestSigning: { secret: await sealRequestSecret(id, requestSecret, real) },
  }
  await changePaidProvider(id, () => ({ ...provider, ...signing }), noWrites, real)
}

export const writeProvider = (
  provider: PaidProvider,
  { webhook: hook, requestSecret }: Secrets,
  since: Date,
): Promise<unknown>[] => {
  const { id } = provider
  const credential = { kind: 'provider', owner: id, createdAt: since.toISOString() } as const
  const webhook = hook && { since, timeoutSeconds: 10, connectionTimeoutSeconds: 5, ...hook }
  return [
    saveProvider(provider, requestSecret),
    putCredential(tokenOf({ kind: 'provider', id }), credential, [], real),
    putCredential(secondTokenOf(id), credential, [], real),
    ...(webhook ? [changeWebhook(id, () => webhook, noWrites, real)] : []),
  ]
}

/** The first connections of the banks. */
export const connections = Object.fromEntries(
  HTTP_BANKS.map((name) => {
    return [name, { connectorUrl: `https://${hostOf(name)}`, connectorSecret: secretsOf(name)[0] }]
  }),
)

const writeSimulatedBank = (name: BankName, at: Date, present: Present): Promise<unknown>[] => {
  const { connectorUrl, connectorSecret } = connections[name] ?? {}
  const options = { 'connector-url': connectorUrl, 'connector-secret': connectorSecret }
  return writeBank(bankOf(name as string as BankIdentifier, present), options, customerAccounts, at)
}

type Present = {
  providers: readonly number[]
  absent: readonly string[]
  lookups: readonly string[]
  workingBanks: readonly string[]
}

/** Writes the fixtures to the table, with the providers at these indexes. */
export const writeFixtures = async (at: Date, present: Present): Promise<void> => {
  const isAbsent = (id: string) => present.absent.includes(id)
  const providers = simulatedProviders.filter(
    ({ id }, index) => present.providers.includes(index) && !isAbsent(id),
  )
  const banks = bankNames.filter((name) => !isAbsent(name))
  await Promise.all([
    ...banks.flatMap((name) => writeSimulatedBank(name, at, present)),
    ...providers.flatMap((row) => writeProvider(providerOf(row), row, at)),
    putSweepProgress({ until: at, behind: new Map() }),
  ])
}

/** Returns the providers and banks that do not exist at the start, with the token that is never theirs. */
export const absentIn = ({ absent, providers }: Present): Record<string, string> => {
  const others = simulatedProviders.filter((_, index) => !providers.includes(index))
  const ids = [...absent, ...others.map(({ id }) => id)]
  return Object.fromEntries(
    ids.map((id) => [id, tokenOf({ kind: id in connections ? 'bank' : 'provider', id })]),
  )
}
