/** The results of operator verbs that the screens show. */

export const statuses = ['pending', 'processing', 'completed', 'failed', 'reversed'] as const

export type DebitSummary = {
  uuid: string
  reference: string
  partner_reference: string
  status: (typeof statuses)[number]
  amount: string
  currency: string
  fee: string | null
  narration: string
  approval_method: string | null
  bank_reference: string | null
  error_message: string | null
  error_code: string | null
  created_at: string
  processed_at: string | null
  completed_at: string | null
  updated_at: string
  provider: string
  bank: string
  phone_number: string
  settlement: { batch_id: string; adjusted_in: string | null } | null
}

export type RefundResult = {
  uuid: string
  status: string
  amount: string
  reason: string
  bank_reference: string | null
  error_message: string | null
  created_at: string
  completed_at: string | null
  failed_at: string | null
}

export type HistoryEntry = {
  n: number
  event: string
  at: string
  by: string
  request_id: string | null
}

export type DebitResult = DebitSummary & {
  metadata: Record<string, unknown>
  refund: RefundResult | null
  history: HistoryEntry[]
}

export type DeliveryResult = {
  id: number
  reference: string
  event: string
  event_id: string
  status: 'pending' | 'delivered' | 'failed' | 'abandoned'
  attempt_count: number
  max_attempts: number
  response_code: number | null
  response_body: string | null
  next_attempt_at: string | null
  delivered_at: string | null
  failed_at: string | null
  reason: { code: number; message: string } | null
}

export type AttemptResult = {
  attempt: number
  at: string
  duration_ms: number
  address: string | null
  response_code: number | null
  response_body: string | null
  error_class: string | null
  cause: string | null
  request_headers: Record<string, string>
}

export type DeliveryWithAttempts = DeliveryResult & { attempts: AttemptResult[] }

export type ProviderResult = {
  id: string
  name: string
  status: string
  daily_limit: string | null
  payouts_held_until: string | null
  settlement_account: { bank: string; account_number: string; account_name: string } | null
}

export type BankResult = {
  identifier: string
  name: string
  status: string
  connector: string
  connector_type: string
  maximum: string | null
  /** Null: normal. */
  behaviour: { as: string; code: string | null; until: string | null } | null
}

export type BatchResult = {
  id: string
  uuid: string
  provider: string
  date: string
  status: 'pending' | 'processing' | 'completed' | 'failed'
  /** The sums are null until the batch is built. */
  count: number | null
  debits: number | null
  gross: string | null
  fee: string | null
  adjustments: string | null
  net: string | null
  fee_schedule: FeeScheduleResult | null
  created_at: string
  sealed_at: string | null
  processed_at: string | null
  completed_at: string | null
  failed_at: string | null
  failure: string | null
  bank_reference: string | null
  paid: string | null
  /** The later batch that offset a net below zero. */
  made_good_by: string | null
}

export type FeeScheduleResult = {
  basis_points: number
  fixed: string
  minimum: string | null
  maximum: string | null
}

export type WebhookSummary = {
  provider: string
  url: string
  events: string[] | null
  health: 'healthy' | 'failing' | 'exhausted' | 'disabled'
  failing_since: string | null
  exhausted_since: string | null
  disabled_at: string | null
  recovered_at: string | null
  is_sidelined: boolean
}

export type WebhookResult = Omit<WebhookSummary, 'provider'> & {
  max_attempts: number | null
  timeout: number
  connection_timeout: number
  signature_prefix: string
  payload: string
  event_names: string
  previous_until: string | null
}

export type PingResult = {
  delivered: boolean
  response_code: number | null
  cause: string | null
  duration_ms: number
}
