import type { ComponentType } from 'preact'
import type { NounName } from '../../shared/operator/results.ts'
import { ApprovalsScreen } from './screens/approvals.tsx'
import { BanksScreen } from './screens/banks.tsx'
import { BatchScreen } from './screens/batch.tsx'
import { ChangesScreen } from './screens/changes.tsx'
import { ClockScreen } from './screens/clock.tsx'
import { CustomersScreen } from './screens/customers.tsx'
import { DebitScreen } from './screens/debit.tsx'
import { DebitsScreen } from './screens/debits.tsx'
import { ExceptionsScreen } from './screens/exceptions.tsx'
import { LedgerScreen } from './screens/ledger.tsx'
import { ReconciliationScreen } from './screens/reconciliation.tsx'
import { RequestsScreen } from './screens/requests.tsx'
import { ScenariosScreen } from './screens/scenarios.tsx'
import { SettlementScreen } from './screens/settlement.tsx'
import { WebhookScreen } from './screens/webhook.tsx'
import { WebhooksScreen } from './screens/webhooks.tsx'

export type ScreenRow = {
  /** The first part of the address. */
  path: string
  title: string
  /** The heading of its link; a screen without one belongs to the screen `under`. */
  group?: 'Payments' | 'Money' | 'Set-up' | 'Checks' | 'Sandbox'
  under?: string
  /** The noun that the operator must be allowed to use. */
  noun?: NounName
  isForSandbox?: boolean
  View: ComponentType
}

/** The screens in the order of their links. */
export const screens: readonly ScreenRow[] = [
  { path: 'debits', title: 'Debits', group: 'Payments', noun: 'debit', View: DebitsScreen },
  { path: 'debit', title: 'Debit', under: 'debits', noun: 'debit', View: DebitScreen },
  { path: 'webhooks', title: 'Webhooks', group: 'Payments', noun: 'webhook', View: WebhooksScreen },
  { path: 'webhook', title: 'Webhook', under: 'webhooks', noun: 'webhook', View: WebhookScreen },
  {
    path: 'requests',
    title: 'Requests',
    group: 'Payments',
    isForSandbox: true,
    View: RequestsScreen,
  },
  {
    path: 'settlement',
    title: 'Settlement',
    group: 'Money',
    noun: 'settlement',
    View: SettlementScreen,
  },
  { path: 'batch', title: 'Batch', under: 'settlement', noun: 'settlement', View: BatchScreen },
  { path: 'ledger', title: 'Ledger', group: 'Money', noun: 'ledger', View: LedgerScreen },
  { path: 'banks', title: 'Banks', group: 'Set-up', noun: 'bank', View: BanksScreen },
  {
    path: 'customers',
    title: 'Customers',
    group: 'Set-up',
    noun: 'customer',
    View: CustomersScreen,
  },
  {
    path: 'exceptions',
    title: 'Exceptions',
    group: 'Checks',
    noun: 'exception',
    View: ExceptionsScreen,
  },
  {
    path: 'approvals',
    title: 'Approvals',
    group: 'Checks',
    noun: 'approval',
    View: ApprovalsScreen,
  },
  {
    path: 'reconciliation',
    title: 'Reconciliation',
    group: 'Checks',
    noun: 'reconciliation',
    View: ReconciliationScreen,
  },
  {
    path: 'changes',
    title: 'Operator changes',
    group: 'Checks',
    noun: 'change',
    View: ChangesScreen,
  },
  { path: 'clock', title: 'Clock', group: 'Sandbox', isForSandbox: true, View: ClockScreen },
  {
    path: 'scenarios',
    title: 'Scenarios',
    group: 'Sandbox',
    isForSandbox: true,
    View: ScenariosScreen,
  },
]
