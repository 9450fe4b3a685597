import type * as v from 'valibot'
import { checkBank, connectionRecorder, saveBank } from '../../shared/banks/save-bank.ts'
import type { Bank } from '../../shared/domain/banks/bank.ts'
import { defined } from '../../shared/domain/defined.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { unlessRefused } from '../../shared/domain/refusal.ts'
import {
  type Author,
  noSuch,
  objectToChange,
  operatorHandler,
} from '../../shared/operator/handler.ts'
import { bank as noun } from '../../shared/operator/nouns/banks.ts'
import { updatedOr } from '../../shared/operator/options.ts'
import { type Runtime, real } from '../../shared/runtime.ts'
import { findBank, listBanks } from '../../shared/store/banks/banks.ts'

type NewBankOptions = v.InferOutput<typeof noun.verbs.create.options>
type BankOptions = v.InferOutput<typeof noun.verbs.update.options>

const applySettings = (bank: Bank, settings: Omit<BankOptions, 'bank'>): Bank => ({
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

/** @param created the bank before its settings, for `create` */
const update = ({ bank: identifier, ...settings }: BankOptions, created?: Bank) => ({
  identifier,
  change: (stored: Bank | undefined) =>
    unlessRefused(objectToChange('bank', stored, created), (bank) => applySettings(bank, settings)),
  options: settings,
})

const create = (options: NewBankOptions) =>
  update(options, {
    identifier: options.bank,
    name: options.name,
    countryCode: 'GH',
    status: 'live',
    connector: 'none',
    connectorType: 'ussd',
  })

const save = async (change: ReturnType<typeof update>, author: Author, runtime: Runtime) => {
  const recording = { ...author, target: change.identifier, bank: change.identifier }
  const recordChange = connectionRecorder(recording, fields)
  return unlessRefused(
    await saveBank({ ...change, recordChange }, runtime),
    ({ bank, url, newSecret }) => ({
      ...view(bank),
      ...defined({ connector_url: url, connector_secret: newSecret }),
    }),
  )
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

export const manageBank = operatorHandler(noun, {
  create: {
    run: (options, author, runtime) => save(create(options), author, runtime),
    check: (options) => checkBank(create(options)),
  },
  update: {
    run: (options, author, runtime) => save(update(options), author, runtime),
    check: (options) => checkBank(update(options)),
  },
  show: async ({ bank }) => unlessRefused((await findBank(bank)) ?? noSuch('bank'), view),
  list: async () => (await listBanks()).map(view),
  disable: ({ bank }, author, runtime) =>
    save(update({ bank, status: 'inactive' }), author, runtime),
  enable: ({ bank }, author, runtime) => save(update({ bank, status: 'live' }), author, runtime),
})

export const handler = manageBank(real)
