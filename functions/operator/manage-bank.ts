import type * as v from 'valibot'
import { checkBank, recordsConnection, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { type Author, operatorHandler } from '../../shared/operator/handler.ts'
import { bank as noun } from '../../shared/operator/nouns/bank.ts'
import { defined, updatedOr } from '../../shared/operator/options.ts'
import { real } from '../../shared/runtime.ts'
import { findBank, listBanks } from '../../shared/store/banks/banks.ts'

type Settings = Omit<v.InferOutput<typeof noun.verbs.update.options>, 'bank'>

const changed = (bank: Bank, settings: Settings): Bank => ({
  identifier: bank.identifier,
  countryCode: bank.countryCode,
  name: settings.name ?? bank.name,
  connector: settings.connector ?? bank.connector,
  status: settings.status ?? bank.status,
  connectorType: settings['connector-type'] ?? bank.connectorType,
  ...defined({
    maximum: updatedOr(bank.maximum, settings.maximum),
    ussdCode: updatedOr(bank.ussdCode, settings['ussd-code']),
    packageName: updatedOr(bank.packageName, settings['package-name']),
    requestLimits: bank.requestLimits,
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

type Start = (before: Bank | undefined) => Bank | Refusal

const changing = (settings: Settings, start: Start) => (before: Bank | undefined) => {
  const begun = start(before)
  return begun instanceof Refusal ? begun : changed(begun, settings)
}

const save = async (
  identifier: BankIdentifier,
  settings: Settings,
  start: Start,
  author: Author,
) => {
  const change = changing(settings, start)
  const recording = { ...author, target: identifier, bank: identifier }
  const saved = await saveBank(identifier, change, settings, recordsConnection(recording, fields))
  if (saved instanceof Refusal) return saved
  return {
    ...view(saved.bank),
    ...(saved.url ? { connector_url: saved.url } : {}),
    ...(saved.newSecret ? { connector_secret: saved.newSecret } : {}),
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

const fields = (bank: Bank) => ({
  ...view(bank),
  ussd_code: bank.ussdCode,
  package_name: bank.packageName,
})

const unknown = () => new Refusal(1404, { details: 'no such bank' })

const taken = () => new Refusal(1409, { details: 'this bank already exists' })

const existing: Start = (before) => before ?? unknown()

const absent =
  (bank: BankIdentifier, name: string): Start =>
  (before) =>
    before ? taken() : fresh(bank, name)

export const handler = operatorHandler(
  noun,
  {
    create: ({ bank, ...rest }, author) => save(bank, rest, absent(bank, rest.name), author),
    update: ({ bank, ...rest }, author) => save(bank, rest, existing, author),
    show: async ({ bank }) => {
      const found = await findBank(bank)
      return found ? view(found) : unknown()
    },
    list: async () => (await listBanks()).map(view),
    disable: ({ bank }, author) => save(bank, { status: 'inactive' }, existing, author),
    enable: ({ bank }, author) => save(bank, { status: 'live' }, existing, author),
  },
  real,
  {
    create: ({ bank, ...rest }) => checkBank(bank, changing(rest, absent(bank, rest.name)), rest),
    update: ({ bank, ...rest }) => checkBank(bank, changing(rest, existing), rest),
  },
)
