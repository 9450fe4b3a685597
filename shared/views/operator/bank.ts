import { type Bank, behaviourAt } from '../../domain/banks/bank.ts'
import type { BankHealth } from '../../domain/banks/health.ts'
import type { Shows } from '../../domain/complete.ts'
import { formatAmount } from '../../domain/money.ts'
import { bankHealthView } from '../bank.ts'

export type BankResult = ReturnType<typeof operatorBankView>

export const operatorBankView = (bank: Bank, at: Date, health: BankHealth) => ({
  ...bankSettingsView(bank, at),
  health: bankHealthView(health),
})

/** Shows the members that operators set. */
export const bankSettingsView = (bank: Bank, at: Date) =>
  ({
    identifier: bank.identifier,
    name: bank.name,
    country_code: bank.countryCode,
    status: bank.status,
    connector: bank.connector,
    connector_type: bank.connectorType,
    maximum: bank.maximum === undefined ? null : formatAmount(bank.maximum),
    open_prompts_max: bank.openPromptsMax ?? null,
    account_lookup: bank.accountLookup ?? 'off',
    behaviour: behaviourAt(bank, at) ?? null,
    when_down: bank.whenDown ?? 'accept',
    payout_days: bank.payoutDays ?? 'all',
    statement_columns: bank.statementColumns ?? null,
    statement_encoding: bank.statementEncoding ?? 'utf-8',
  }) satisfies Shows<Bank, 'ussdCode' | 'packageName' | 'requestLimits'>

/** The parts of a changed connection that the reply shows once. */
export type SavedConnection = { connector_url?: string; connector_secret?: string }
