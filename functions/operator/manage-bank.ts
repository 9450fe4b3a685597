import * as v from 'valibot'
import { Bank, BankIdentifier, ConnectorName } from '../../shared/domain/bank.ts'
import { formatAmount } from '../../shared/domain/money.ts'
import { Refusal } from '../../shared/domain/refusal.ts'
import { text } from '../../shared/domain/text.ts'
import { kept, money, options, orNone, present } from '../../shared/operator/options.ts'
import { operatorHandler, verb } from '../../shared/operator/verbs.ts'
import { findBank, putBank } from '../../shared/store/banks.ts'

const settings = {
  connector: v.optional(ConnectorName),
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

const save = async (bank: Bank) => {
  await putBank(bank)
  return {
    identifier: bank.identifier,
    name: bank.name,
    country_code: bank.countryCode,
    status: bank.status,
    connector: bank.connector,
    connector_type: bank.connectorType,
    maximum: bank.maximum === undefined ? null : formatAmount(bank.maximum),
  }
}

export const handler = operatorHandler({
  create: verb(
    options({ bank: BankIdentifier, name: text({ max: 100 }), ...settings }),
    async ({ bank, ...rest }) =>
      (await findBank(bank))
        ? new Refusal(1409, { details: 'this bank exists already' })
        : save(changed(fresh(bank, rest.name), rest)),
  ),
  update: verb(
    options({ bank: BankIdentifier, name: v.optional(text({ max: 100 })), ...settings }),
    async ({ bank, ...rest }) => {
      const known = await findBank(bank)
      return known ? save(changed(known, rest)) : new Refusal(1404, { details: 'no such bank' })
    },
  ),
})
