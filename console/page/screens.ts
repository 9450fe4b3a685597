import type { ComponentType } from 'preact'
import type { NounName } from '../../shared/operator/results.ts'
import { ApprovalsScreen } from './screens/approvals.tsx'
import { BatchScreen } from './screens/batch.tsx'
import { CallsScreen } from './screens/calls.tsx'
import { ChangesScreen } from './screens/changes.tsx'
import { ClockScreen } from './screens/clock.tsx'
import { ClosingScreen } from './screens/closing.tsx'
import { CustomersScreen } from './screens/customers.tsx'
import { DebitScreen } from './screens/debit.tsx'
import { DebitsScreen } from './screens/debits.tsx'
import { ExceptionsScreen } from './screens/exceptions.tsx'
import { LedgerScreen } from './screens/ledger.tsx'
import { NowScreen } from './screens/now.tsx'
import { BankScreen, BanksScreen, ProviderScreen, ProvidersScreen } from './screens/owners.tsx'
import { ReconciliationScreen } from './screens/reconciliation.tsx'
import { RequestsScreen } from './screens/requests.tsx'
import { ScenariosScreen } from './screens/scenarios.tsx'
import { SettlementScreen } from './screens/settlement.tsx'
import { WebhookScreen, WebhooksScreen } from './screens/webhooks.tsx'

export type ScreenRow = {
  /** The first part of the address. */
  path: string
  title: string
  /** The screen whose link it belongs to, if it has none. */
  under?: string
  /** The noun that the operator must be allowed to use. */
  noun?: NounName
  isForSandbox?: boolean
  View: ComponentType
}

/** The screens by the heading of their links, in their order. */
export const screenGroups: Record<string, readonly ScreenRow[]> = {
  Payments: [
    { path: 'now', title: 'Now', View: NowScreen },
    { path: 'debits', title: 'Debits', noun: 'debit', View: DebitsScreen },
    { path: 'debit', title: 'Debit', under: 'debits', noun: 'debit', View: DebitScreen },
    { path: 'webhooks', title: 'Webhooks', noun: 'webhook', View: WebhooksScreen },
    { path: 'webhook', title: 'Webhook', under: 'webhooks', noun: 'webhook', View: WebhookScreen },
    { path: 'requests', title: 'Requests', isForSandbox: true, View: RequestsScreen },
  ],
  Money: [
    { path: 'settlement', title: 'Settlement', noun: 'settlement', View: SettlementScreen },
    { path: 'batch', title: 'Batch', under: 'settlement', noun: 'settlement', View: BatchScreen },
    { path: 'closing', title: 'Closing', noun: 'day', View: ClosingScreen },
    { path: 'ledger', title: 'Ledger', noun: 'ledger', View: LedgerScreen },
  ],
  'Set-up': [
    { path: 'providers', title: 'Providers', noun: 'provider', View: ProvidersScreen },
    {
      path: 'provider',
      title: 'Provider',
      under: 'providers',
      noun: 'provider',
      View: ProviderScreen,
    },
    { path: 'banks', title: 'Banks', noun: 'bank', View: BanksScreen },
    { path: 'bank', title: 'Bank', under: 'banks', noun: 'bank', View: BankScreen },
    { path: 'customers', title: 'Customers', noun: 'customer', View: CustomersScreen },
  ],
  Checks: [
    { path: 'exceptions', title: 'Exceptions', noun: 'exception', View: ExceptionsScreen },
    { path: 'approvals', title: 'Approvals', noun: 'approval', View: ApprovalsScreen },
    {
      path: 'reconciliation',
      title: 'Reconciliation',
      noun: 'reconciliation',
      View: ReconciliationScreen,
    },
    { path: 'changes', title: 'Operator changes', noun: 'change', View: ChangesScreen },
    { path: 'calls', title: 'All calls', View: CallsScreen },
  ],
  Sandbox: [
    { path: 'clock', title: 'Clock', isForSandbox: true, View: ClockScreen },
    { path: 'scenarios', title: 'Scenarios', isForSandbox: true, View: ScenariosScreen },
  ],
}

export const screens = Object.values(screenGroups).flat()
