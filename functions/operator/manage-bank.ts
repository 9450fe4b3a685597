import type * as v from 'valibot'
import { checkBank, connectionRecorder, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank, BankIdentifier } from '../../shared/domain/banks/bank.ts'
import { defined } from '../../shared/domain/defined.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { Refusal, unlessRefused } from '../../shared/domain/refusal.ts'
import { type Author, noSuch, operatorHandler } from '../../shared/operator/handler.ts'
import { bank as noun } from '../../shared/operator/nouns/banks.ts'
import { updatedOr } from '../../shared/operator/options.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findBank, listBanks } from '../../shared/store/banks/banks.ts'

type BankSettings = Omit<v.InferOutput<typeof noun.verbs.update.options>, 'bank'>

const applySettings = (bank: Bank, settings: BankSettings): Bank => ({
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

type BankStart = (previous: Bank | undefined) => Bank | Refusal

const existing: BankStart = (previous) => previous ?? noSuch('bank')

const absent =
  (identifier: BankIdentifier, name: string): BankStart =>
  (previous) =>
    previous
      ? new Refusal(1409, { details: 'this bank already exists' })
      : {
          identifier,
          name,
          countryCode: 'GH',
          status: 'live',
          connector: 'none',
          connectorType: 'ussd',
        }

const changeOf = (settings: BankSettings, start: BankStart) => (previous: Bank | undefined) =>
  unlessRefused(start(previous), (bank) => applySettings(bank, settings))

const save = async (
  identifier: BankIdentifier,
  settings: BankSettings,
  start: BankStart,
  author: Author,
  runtime: Runtime,
) => {
  const change = changeOf(settings, start)
  const recording = { ...author, target: identifier, bank: identifier }
  const recordChange = connectionRecorder(recording, fields)
  const saved = await saveBank({ identifier, change, options: settings, recordChange }, runtime)
  return unlessRefused(saved, ({ bank, url, newSecret }) => ({
    ...view(bank),
    ...defined({ connector_url: url, connector_secret: newSecret }),
  }))
}

const check = (identifier: BankIdentifier, settings: BankSettings, start: BankStart) =>
  checkBank({ identifier, change: changeOf(settings, start), options: settings })

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

export const manageBank = operatorHandler(noun, {
  create: {
    run: ({ bank, ...settings }, author, runtime) =>
      save(bank, settings, absent(bank, settings.name), author, runtime),
    check: ({ bank, ...settings }) => check(bank, settings, absent(bank, settings.name)),
  },
  update: {
    run: ({ bank, ...settings }, author, runtime) =>
      save(bank, settings, existing, author, runtime),
    check: ({ bank, ...settings }) => check(bank, settings, existing),
  },
  show: async ({ bank }) => unlessRefused((await findBank(bank)) ?? noSuch('bank'), view),
  list: async () => (await listBanks()).map(view),
  disable: ({ bank }, author, runtime) =>
    save(bank, { status: 'inactive' }, existing, author, runtime),
  enable: ({ bank }, author, runtime) => save(bank, { status: 'live' }, existing, author, runtime),
})

export const handler = manageBank(real)
