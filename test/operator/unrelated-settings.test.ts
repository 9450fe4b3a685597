import type * as v from 'valibot'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { manageBank } from '../../functions/operator/manage-bank.ts'
import { manageConnector } from '../../functions/operator/manage-connector.ts'
import { manageLimit } from '../../functions/operator/manage-limit.ts'
import { manageProvider } from '../../functions/operator/manage-provider.ts'
import { manageWebhook } from '../../functions/operator/manage-webhook.ts'
import type { Bank, ConnectorSettings } from '../../shared/domain/banks/bank.ts'
import { pesewas } from '../../shared/domain/money.ts'
import type { PaidProvider } from '../../shared/domain/providers/provider.ts'
import type { Webhook } from '../../shared/domain/webhooks/webhook.ts'
import type { bank, connector } from '../../shared/operator/nouns/banks.ts'
import type { provider } from '../../shared/operator/nouns/providers.ts'
import type { webhook as webhookNoun } from '../../shared/operator/nouns/webhook.ts'
import type { OperatorCall, OperatorReply } from '../../shared/operator/verbs.ts'
import { findBank } from '../../shared/store/banks/banks.ts'
import {
  connectorWrite,
  findConnectorSettings,
} from '../../shared/store/banks/connector-settings.ts'
import { findPaidProvider } from '../../shared/store/providers/providers.ts'
import { sealRequestSecret } from '../../shared/store/providers/request-secrets.ts'
import { transact } from '../../shared/store/transactions.ts'
import { findWebhook } from '../../shared/store/webhooks/webhooks.ts'
import { demoProvider, gcb, inSeconds, NOON, still, webhook } from '../support/examples.ts'
import { settlementAccount } from '../support/payee.ts'
import { storeBank, storeProvider, storeWebhook } from '../support/settings.ts'
import { useFreshTable } from '../support/tables.ts'

/** A call of an operator changes its settings and no others. */

/** A value for every setting: a new one does not compile until it has one here. */
type Every<T> = { [K in keyof Required<T>]: NonNullable<T[K]> }

type Options = Record<string, string>
/** The options of a call, and the settings that it changes. */
type Change<T> = [options: Options, ...changed: (keyof T)[]]
/** A change for every option of a verb: a new one does not compile until it has one here. */
type Changes<Verb extends { options: v.GenericSchema }, T, Target extends string> = {
  [K in Exclude<keyof v.InferOutput<Verb['options']>, Target>]: Change<T>
}
type Handler = (call: OperatorCall) => Promise<OperatorReply>
type Call<T> = [name: string, handler: Handler, verb: string, change: Change<T>]

const runtime = still()

const callsOf = <T>(
  handler: Handler,
  verb: string,
  target: Options,
  changes: Record<string, Change<T>>,
): Call<T>[] =>
  Object.entries(changes).map(([option, [options, ...changed]]) => {
    return [`${verb} --${option}`, handler, verb, [{ ...target, ...options }, ...changed]]
  })

/** Makes a call and checks each setting before and after it. */
const check = async <T extends object>(
  [, handler, verb, [options, ...changed]]: Call<T>,
  read: () => Promise<T>,
) => {
  const before = await read()
  expect(await handler({ verb, options, actor: 'local:ama' })).not.toHaveProperty('error')
  const after = await read()
  const names = Object.keys({ ...before, ...after }) as (keyof T)[]
  const text = (settings: T, name: keyof T) => JSON.stringify(settings[name])
  const different = names.filter((name) => text(before, name) !== text(after, name))
  expect(different.sort()).toEqual(changed.sort())
}

process.env.SEALING_KEY = 'a text for tests'
beforeAll(useFreshTable)

const { id } = demoProvider
const { identifier } = gcb
const [ofProvider, ofBank] = [{ provider: id }, { bank: identifier }]

describe('provider', () => {
  const everyProvider: Every<PaidProvider> = {
    ...demoProvider,
    dailyLimit: pesewas(50_000_00),
    countedUntil: '2026-11-21',
    allowedAddresses: ['192.0.2.0/24'],
    requestSigning: { secret: '', previous: { secret: '', until: '2026-11-21T00:00:00.000Z' } },
    feeSchedule: {
      ...{ basisPoints: 150, fixed: pesewas(10), minimum: pesewas(50) },
      maximum: pesewas(25_00),
    },
    settlementAccount: { bank: identifier, accountNumber: '1041007001', accountName: 'Payee' },
    payoutsHeldUntil: '2026-11-22T12:00:00.000Z',
    requestLimits: { charge: 5 },
    reversals: 'request',
  }
  const account = settlementAccount('2441009009')
  const updates: Changes<typeof provider.verbs.update, PaidProvider, 'provider'> = {
    name: [{ name: 'Renamed' }, 'name'],
    'daily-limit': [{ 'daily-limit': '1.00' }, 'dailyLimit'],
    duplicates: [{ duplicates: 'reject' }, 'duplicates'],
    status: [{ status: 'suspended' }, 'status'],
    reversals: [{ reversals: 'none' }, 'reversals'],
    'allow-list': [{ 'allow-list': '198.51.100.0/24' }, 'allowedAddresses'],
    'request-secret': [{ 'request-secret': '0123456789abcdef' }, 'requestSigning'],
    'fee-basis-points': [{ 'fee-basis-points': '1' }, 'feeSchedule'],
    'fee-fixed': [{ 'fee-fixed': '0.20' }, 'feeSchedule'],
    'fee-minimum': [{ 'fee-minimum': '0.20' }, 'feeSchedule'],
    'fee-maximum': [{ 'fee-maximum': 'none' }, 'feeSchedule'],
    'settlement-bank': [account, 'settlementAccount'],
    'settlement-account': [{ 'settlement-account': 'none' }, 'settlementAccount'],
    'settlement-name': [{ ...account, 'settlement-name': 'Other' }, 'settlementAccount'],
  }
  const [manage, limit] = [manageProvider(runtime), manageLimit(runtime)]
  const disables: Changes<typeof provider.verbs.disable, PaidProvider, 'provider'> = {}
  const perMinute = { operation: 'charge', 'per-minute': '7' }
  const calls: Call<PaidProvider>[] = [
    ...callsOf(manage, 'update', ofProvider, updates),
    ...callsOf(manage, 'disable', ofProvider, disables),
    ['disable', manage, 'disable', [ofProvider, 'status']],
    ['rotate-request-secret', manage, 'rotate-request-secret', [ofProvider, 'requestSigning']],
    ['limit set', limit, 'set', [{ ...ofProvider, 'daily-limit': '1.00' }, 'dailyLimit']],
    ['limit set', limit, 'set', [{ ...ofProvider, ...perMinute }, 'requestLimits']],
  ]
  const read = async (): Promise<PaidProvider> => (await findPaidProvider(id)) as PaidProvider

  beforeEach(async () => {
    await storeBank(gcb)
    const secret = await sealRequestSecret(id, 'an earlier secret', runtime)
    const { countedUntil, ...stored } = everyProvider
    await storeProvider({ ...stored, requestSigning: { ...stored.requestSigning, secret } })
  })

  test.each(calls)('the settings of a provider that are unrelated to `%s` stay', async (...one) => {
    await check(one, read)
  })

  test('the day of a removed daily limit stays when another setting changes', async () => {
    const { dailyLimit, ...stored } = everyProvider
    await storeProvider(stored)
    await check(['update', manage, 'update', [{ ...ofProvider, name: 'New' }, 'name']], read)
  })
})

describe('bank', () => {
  const everyBank: Every<Bank> = {
    ...gcb,
    connector: 'http',
    whenDown: 'accept',
    payoutDays: 'working',
    statementColumns: { bank_reference: 'Ref', amount: 'Amt', completed_at: 'Date' },
    statementEncoding: 'windows-1252',
    maximum: pesewas(100_00),
    ussdCode: '*422#',
    packageName: 'com.gcb.mobile',
    openPromptsMax: 7,
    accountLookup: 'on',
    requestLimits: { 'list-debit-transactions': 5 },
    behaviour: { as: 'rejecting', code: 'transaction_declined', until: null },
  }
  const everyConnector: Every<ConnectorSettings> = {
    url: 'https://bank.test',
    secret: '0123456789abcdef',
  }
  type Connected = Bank & ConnectorSettings
  const connection: Changes<typeof connector.verbs.set, Connected, 'bank'> = {
    connector: [{ connector: 'none' }, 'connector'],
    'connector-url': [{ 'connector-url': 'https://other.test' }, 'url'],
    'connector-secret': [{ 'connector-secret': 'fedcba9876543210' }, 'secret'],
    'knows-uuids': [{ 'knows-uuids': 'true' }],
  }
  const updates: Changes<typeof bank.verbs.update, Connected, 'bank'> = {
    ...connection,
    name: [{ name: 'Renamed' }, 'name'],
    status: [{ status: 'inactive' }, 'status'],
    maximum: [{ maximum: '1.00' }, 'maximum'],
    'connector-type': [{ 'connector-type': 'ussd' }, 'connectorType'],
    'ussd-code': [{ 'ussd-code': '*1#' }, 'ussdCode'],
    'open-prompts-max': [{ 'open-prompts-max': 'default' }, 'openPromptsMax'],
    'package-name': [{ 'package-name': 'com.other' }, 'packageName'],
    'payout-days': [{ 'payout-days': 'default' }, 'payoutDays'],
    'when-down': [{ 'when-down': 'refuse' }, 'whenDown'],
    'statement-columns': [{ 'statement-columns': 'default' }, 'statementColumns'],
    'statement-encoding': [{ 'statement-encoding': 'default' }, 'statementEncoding'],
    'account-lookup': [{ 'account-lookup': 'off' }, 'accountLookup'],
  }
  const manage = manageBank(runtime)
  const disables: Changes<typeof bank.verbs.disable, Connected, 'bank'> = {}
  const perMinute = { operation: 'list-debit-transactions', 'per-minute': '7' }
  const calls: Call<Connected>[] = [
    ...callsOf(manage, 'update', ofBank, updates),
    ...callsOf(manageConnector(runtime), 'set', ofBank, connection),
    ...callsOf(manage, 'disable', ofBank, disables),
    ['disable', manage, 'disable', [ofBank, 'status']],
    ['limit set', manageLimit(runtime), 'set', [{ ...ofBank, ...perMinute }, 'requestLimits']],
  ]

  beforeEach(async () => {
    await storeBank(everyBank)
    await transact([await connectorWrite(identifier, everyConnector, runtime)], runtime)
  })

  test.each(calls)('the settings of a bank that are unrelated to `%s` stay', async (...one) => {
    await check(one, async () => ({
      ...((await findBank(identifier)) ?? gcb),
      ...((await findConnectorSettings(identifier)) ?? everyConnector),
    }))
  })
})

describe('webhook', () => {
  const everyWebhook: Every<Webhook> = {
    ...webhook,
    url: 'https://8.8.8.8/webhooks',
    previous: { secret: 'whsec_b2xk', until: inSeconds(60) },
    events: ['transaction.completed'],
    since: NOON,
    subscribedAt: { 'transaction.completed': NOON.toISOString() },
    attemptsMax: 3,
    timeoutSeconds: 20,
    connectionTimeoutSeconds: 7,
    signaturePrefix: 'sha256',
    payload: 'reduced',
    eventNames: 'debit_request',
  }
  const updates: Changes<typeof webhookNoun.verbs.set, Webhook, 'provider'> = {
    url: [{ url: 'https://8.8.8.8/other' }, 'url'],
    events: [{ events: 'transaction.failed' }, 'events', 'subscribedAt'],
    'max-attempts': [{ 'max-attempts': '4' }, 'attemptsMax'],
    timeout: [{ timeout: '21' }, 'timeoutSeconds'],
    'connection-timeout': [{ 'connection-timeout': '8' }, 'connectionTimeoutSeconds'],
    'signature-prefix': [{ 'signature-prefix': 'none' }, 'signaturePrefix'],
    payload: [{ payload: 'full' }, 'payload'],
    'event-names': [{ 'event-names': 'transaction' }, 'eventNames'],
  }
  const manage = manageWebhook(runtime)
  const rotation: Change<Webhook> = [ofProvider, 'secret', 'previous']
  const calls: Call<Webhook>[] = [
    ...callsOf(manage, 'set', { ...ofProvider, url: everyWebhook.url }, updates),
    ['rotate-secret', manage, 'rotate-secret', rotation],
  ]

  beforeEach(async () => {
    await storeProvider(demoProvider)
    await storeWebhook(id, everyWebhook)
  })

  test.each(calls)('the settings of a webhook that are unrelated to `%s` stay', async (...one) => {
    await check(one, async () => ({ ...webhook, ...(await findWebhook(id)) }))
  })
})
