import * as v from 'valibot'
import type { Bank } from '../domain/banks/bank.ts'
import { type BankHealth, bankStates } from '../domain/banks/health.ts'
import { NullableTime, named } from './fields.ts'

/** Shows a bank in replies, webhooks and lists (docs/api.md#banks). */
export const bankView = (bank: { name: string; identifier: string }) => ({
  name: bank.name,
  identifier: bank.identifier,
  country_code: 'GH' as const,
})

const bankEntries = () => ({
  name: v.string(),
  identifier: v.pipe(v.string(), v.regex(/^[A-Z0-9]{3,5}$/)),
  country_code: v.literal('GH'),
})

export const bankSchema = () => named('Bank', v.object(bankEntries()))

/** Shows the health of a bank (docs/api.md#bank-health). */
export const bankHealthView = ({ state, since }: BankHealth) => ({
  state,
  since: since?.toISOString() ?? null,
})

/** Shows a bank in its own reply (docs/api.md#banks). */
export const bankDetailView = (bank: Bank, health: BankHealth) => ({
  ...bankView(bank),
  status: bank.status,
  connector_type: bank.connectorType,
  metadata: {
    ...(bank.ussdCode ? { ussd_code: bank.ussdCode } : {}),
    ...(bank.packageName ? { app_config: { package_name: bank.packageName } } : {}),
    health: bankHealthView(health),
  },
})

export const bankDetailSchema = () =>
  named(
    'BankDetail',
    v.object({
      ...bankEntries(),
      status: v.literal('live'),
      connector_type: v.picklist(['ussd', 'mobile_api', 'both']),
      metadata: v.object({
        ussd_code: v.optional(v.string()),
        app_config: v.optional(v.object({ package_name: v.string() })),
        health: named(
          'BankHealth',
          v.object({ state: v.picklist(bankStates), since: NullableTime }),
        ),
      }),
    }),
  )
