import * as v from 'valibot'
import { bankUrl } from '../../shared/banks/bank-url.ts'
import {
  Bank,
  BankIdentifier,
  ConnectorName,
  type ConnectorSettings,
} from '../../shared/domain/bank.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { invalid, Refusal } from '../../shared/domain/refusal.ts'
import { text } from '../../shared/domain/text.ts'
import { kept, money, options, orNone, present } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { environment, real } from '../../shared/runtime.ts'
import { findBank, putBank } from '../../shared/store/banks.ts'
import {
  findConnectorSettings,
  putConnectorSettings,
} from '../../shared/store/connector-settings.ts'

const settings = {
  connector: v.optional(ConnectorName),
  'connector-url': v.optional(v.string()),
  'connector-secret': v.optional(
    v.pipe(v.string(), v.regex(/^[!-~]{16,200}$/, 'must be 16 to 200 characters without blanks')),
  ),
  status: v.optional(Bank.entries.status),
  maximum: v.optional(orNone(money)),
  'connector-type': v.optional(Bank.entries.connectorType),
  'ussd-code': v.optional(v.string()),
  'package-name': v.optional(v.string()),
}

type Settings = v.InferOutput<v.ObjectSchema<typeof settings, undefined>> & {
  name?: string | undefined
}

const changed = (bank: Bank, settings: Settings): Bank => ({
  identifier: bank.identifier,
  countryCode: bank.countryCode,
  name: settings.name ?? bank.name,
  connector: settings.connector ?? bank.connector,
  status: settings.status ?? bank.status,
  connectorType: settings['connector-type'] ?? bank.connectorType,
  ...present({
    maximum: kept(bank.maximum, settings.maximum),
    ussdCode: kept(bank.ussdCode, settings['ussd-code']),
    packageName: kept(bank.packageName, settings['package-name']),
  }),
})

const fresh = (identifier: BankIdentifier, name: string): Bank => ({
  identifier,
  name,
  countryCode: 'GH',
  status: 'live',
  connector: 'none',
  connectorType: 'ussd',
})

/** Where a bank with connector http is reached: what was given, else what it was. */
const reached = (
  before: ConnectorSettings | undefined,
  settings: Settings,
): ConnectorSettings | Refusal => {
  const given = settings['connector-url'] ?? before?.url
  if (given === undefined) return invalid({ 'connector-url': ['is required for connector http'] })
  const url = bankUrl(given, { localPeers: environment.localPeers })
  if (url instanceof Refusal) return url
  // A new URL keeps its secret; only another secret changes it.
  return { url, secret: settings['connector-secret'] ?? before?.secret ?? connectorSecret() }
}

const connectorSecret = (): string =>
  `cs_${Buffer.from(real.randomBytes(32)).toString('base64url')}`

const save = async (bank: Bank, settings: Settings) => {
  if (bank.connector === 'sandbox' && !environment.sandboxBank) {
    return invalid({ connector: ['sandbox is for sandboxes only'] })
  }
  if (bank.connector !== 'http') {
    const stray = (['connector-url', 'connector-secret'] as const).find((name) => settings[name])
    if (stray) return invalid({ [stray]: ['is for connector http'] })
    await putBank(bank)
    return view(bank)
  }
  const before = await findConnectorSettings(bank.identifier)
  const after = reached(before, settings)
  if (after instanceof Refusal) return after
  // Before the bank, so that no debit finds a connector without its settings.
  await putConnectorSettings(bank.identifier, after)
  await putBank(bank)
  const isGenerated = !before && !settings['connector-secret']
  return {
    ...view(bank),
    connector_url: after.url,
    ...(isGenerated ? { connector_secret: after.secret } : {}),
  }
}

const view = (bank: Bank) => ({
  identifier: bank.identifier,
  name: bank.name,
  country_code: bank.countryCode,
  status: bank.status,
  connector: bank.connector,
  connector_type: bank.connectorType,
  maximum: bank.maximum === undefined ? null : formatAmount(bank.maximum),
})

export const handler = operatorHandler({
  create: verb(
    options({ bank: BankIdentifier, name: text({ max: 100 }), ...settings }),
    async ({ bank, ...rest }) =>
      (await findBank(bank))
        ? new Refusal(1409, { details: 'this bank exists already' })
        : save(changed(fresh(bank, rest.name), rest), rest),
  ),
  update: verb(
    options({ bank: BankIdentifier, name: v.optional(text({ max: 100 })), ...settings }),
    async ({ bank, ...rest }) => {
      const known = await findBank(bank)
      return known
        ? save(changed(known, rest), rest)
        : new Refusal(1404, { details: 'no such bank' })
    },
  ),
})
