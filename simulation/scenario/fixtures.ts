import { type ConnectorOptions, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier, CustomerAccount } from '../../shared/domain/banks/bank.ts'
import type { Pesewas } from '../../shared/domain/money.ts'
import type { Provider, ProviderId } from '../../shared/domain/providers/provider.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import { real } from '../../shared/runtime.ts'
import { putAccount } from '../../shared/store/banks/banks.ts'
import { putCredential } from '../../shared/store/providers/credentials.ts'
import { changeProvider } from '../../shared/store/providers/providers.ts'
import { noWrites } from '../../shared/store/settings.ts'
import { changeWebhook } from '../../shared/store/webhooks/webhooks.ts'
import { putSweepProgress } from '../../shared/store/work-index.ts'
import { webhookSecret } from '../../shared/webhooks/http/signature.ts'
import type { Account, SimulatedProvider } from '../engine/observations.ts'
import { tokenOf } from '../peers/api.ts'
import { bankNames, HTTP_BANKS } from './script.ts'

/** The providers, banks and customers of every run. */

const pesewas = (amount: number) => amount as Pesewas

export const secretOf = (bank: string): string => `cs_simulated_${bank}`

export const hostOf = (name: string): string => `${name.toLowerCase()}.simulated.example`

type WebhookOptions = { attemptsMax?: number; events?: NonNullable<Webhook['events']> }

type Row = {
  id: string
  dailyLimit?: number
  fees?: { basisPoints: number; fixed: number; minimum?: number; maximum?: number }
  webhook?: WebhookOptions
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

const secretAt = (index: number): string => webhookSecret(Buffer.alloc(32, index + 1))

export const simulatedProviders: readonly SimulatedProvider[] = rows.map((row, index) => ({
  id: row.id,
  webhook: row.webhook && {
    url: `https://${hostOf(row.id)}/hooks`,
    secret: secretAt(index),
    ...row.webhook,
  },
  dailyLimit: row.dailyLimit,
  feeSchedule: row.fees,
  account: {
    bank: HTTP_BANKS[index % HTTP_BANKS.length] ?? '',
    number: `10410090${10 + index}`,
    name: `${row.id} Ltd`,
  },
}))

const providerOf = ({ id, dailyLimit, fees }: Row, account: Account): Provider => ({
  id: id as ProviderId,
  name: id,
  status: 'active',
  duplicates: 'return',
  ...(dailyLimit === undefined ? {} : { dailyLimit: pesewas(dailyLimit) }),
  ...(fees ? { feeSchedule: fees as NonNullable<Provider['feeSchedule']> } : {}),
  settlementAccount: {
    bank: account.bank as BankIdentifier,
    accountNumber: account.number,
    accountName: account.name,
  },
})

const bankOf = (identifier: string): Bank => ({
  identifier: identifier as BankIdentifier,
  name: `Bank ${identifier}`,
  countryCode: 'GH',
  status: 'live',
  connector: identifier === 'SBX' ? 'sandbox' : 'http',
  connectorType: 'both',
})

/** The account number by phone number, at each bank. */
export const customerAccounts: Readonly<Record<string, string>> = Object.fromEntries(
  ['+233241234567', '+233241111111', '+233245555555'].map((phone) => [phone, phone.slice(1)]),
)

const accountOf = (phone: string): CustomerAccount => ({
  customerName: 'Ama Ɔbaapa Mensah',
  accountNumber: customerAccounts[phone] ?? '',
  accountType: 'savings',
  status: 'active',
})

const providersAmong = (selected: readonly number[]) =>
  rows.map((row, index) => ({ row, index })).filter(({ index }) => selected.includes(index))

const connectionOf = (name: string): ConnectorOptions =>
  name === 'SBX'
    ? {}
    : { 'connector-url': `https://${hostOf(name)}`, 'connector-secret': secretOf(name) }

/** Writes the fixtures to the table. */
export const writeFixtures = async (at: Date, providers: readonly number[]): Promise<void> => {
  const createdAt = at.toISOString()
  await Promise.all([
    ...bankNames.flatMap((name) => [
      saveBank(
        {
          identifier: name as BankIdentifier,
          change: () => bankOf(name),
          options: connectionOf(name),
        },
        real,
      ),
      putCredential(
        tokenOf({ kind: 'bank', id: name }),
        { kind: 'bank', owner: name as BankIdentifier, createdAt },
        [],
        real,
      ),
      ...Object.keys(customerAccounts).map((phone) =>
        putAccount(phone, name, accountOf(phone), noWrites, real),
      ),
    ]),
    ...providersAmong(providers).flatMap(({ row, index }) => [
      changeProvider(
        row.id as ProviderId,
        () => providerOf(row, (simulatedProviders[index] as SimulatedProvider).account),
        noWrites,
        real,
      ),
      putCredential(
        tokenOf({ kind: 'provider', id: row.id }),
        {
          kind: 'provider',
          owner: row.id as ProviderId,
          createdAt,
        },
        [],
        real,
      ),
      ...(row.webhook
        ? [
            changeWebhook(
              row.id as ProviderId,
              () => webhookAt(row, row.webhook as WebhookOptions, index, at),
              noWrites,
              real,
            ),
          ]
        : []),
    ]),
    putSweepProgress({ until: at }),
  ])
}

const webhookAt = ({ id }: Row, webhook: WebhookOptions, index: number, since: Date): Webhook => ({
  url: `https://${hostOf(id)}/hooks`,
  secret: secretAt(index),
  since,
  timeoutSeconds: 10,
  connectionTimeoutSeconds: 5,
  ...webhook,
})
