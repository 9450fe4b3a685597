import type { ComponentType } from 'preact'
import type { NounName } from '../../shared/operator/results.ts'
import { ApprovalsScreen, ChangesScreen } from './screens/approvals.tsx'
import { BatchScreen } from './screens/batch.tsx'
import { CallsScreen } from './screens/calls.tsx'
import { ClosingScreen } from './screens/closing.tsx'
import { CustomersScreen } from './screens/customers.tsx'
import { DebitScreen } from './screens/debit.tsx'
import { DebitsScreen } from './screens/debits.tsx'
import { ExceptionsScreen } from './screens/exceptions.tsx'
import { LedgerScreen } from './screens/ledger.tsx'
import { NowScreen } from './screens/now.tsx'
import { BankScreen, BanksScreen, ProviderScreen, ProvidersScreen } from './screens/owners.tsx'
import { ReconciliationScreen } from './screens/reconciliation.tsx'
import { ClockScreen, RequestsScreen, ScenariosScreen } from './screens/sandbox.tsx'
import { SettlementScreen } from './screens/settlement.tsx'
import { WebhookScreen, WebhooksScreen } from './screens/webhooks.tsx'

export type ScreenRow = {
  /** The first part of the address. */
  path: string
  /** The screen whose link it belongs to, if it has none. */
  under?: string
  /** The noun that the operator must be allowed to use. */
  noun?: NounName
  isForSandbox?: boolean
  /** The filters of its link. */
  filters?: Record<string, string>
  View: ComponentType
}

/** The screens by the heading of their links, in their order. */
export const screenGroups: Record<string, readonly ScreenRow[]> = {
  Payments: [
    { path: 'now', View: NowScreen },
    { path: 'debits', noun: 'debit', View: DebitsScreen },
    { path: 'debit', under: 'debits', noun: 'debit', View: DebitScreen },
    { path: 'webhooks', noun: 'webhook', View: WebhooksScreen },
    { path: 'webhook', under: 'webhooks', noun: 'webhook', View: WebhookScreen },
    { path: 'requests', isForSandbox: true, View: RequestsScreen },
  ],
  Money: [
    { path: 'settlement', noun: 'settlement', View: SettlementScreen },
    { path: 'batch', under: 'settlement', noun: 'settlement', View: BatchScreen },
    { path: 'closing', noun: 'day', View: ClosingScreen },
    { path: 'ledger', noun: 'ledger', View: LedgerScreen },
  ],
  'Set-up': [
    { path: 'providers', noun: 'provider', View: ProvidersScreen },
    { path: 'provider', under: 'providers', noun: 'provider', View: ProviderScreen },
    { path: 'banks', noun: 'bank', View: BanksScreen },
    { path: 'bank', under: 'banks', noun: 'bank', View: BankScreen },
    { path: 'customers', noun: 'customer', View: CustomersScreen },
  ],
  Checks: [
    { path: 'exceptions', noun: 'exception', filters: { status: 'open' }, View: ExceptionsScreen },
    { path: 'approvals', noun: 'approval', View: ApprovalsScreen },
    { path: 'reconciliation', noun: 'reconciliation', View: ReconciliationScreen },
    { path: 'changes', noun: 'change', View: ChangesScreen },
    { path: 'calls', View: CallsScreen },
  ],
  Sandbox: [
    { path: 'clock', isForSandbox: true, View: ClockScreen },
    { path: 'scenarios', isForSandbox: true, View: ScenariosScreen },
  ],
}

export const screens = Object.values(screenGroups).flat()
