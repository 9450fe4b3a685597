# Generated from docs/openapi.json and docs/bank-protocol.json by generate.py.

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Literal, TypeAlias, TypedDict, TypeVar


class Attempt(TypedDict):
    attempt: int
    at: str
    duration_ms: int
    address: str | None
    response_code: int | None
    response_body: str | None
    error_class: Literal["timeout", "connect", "dns", "tls", "address", "redirect", "status"] | None
    cause: (
        Literal[
            "connect_timeout",
            "read_timeout",
            "refused",
            "broken",
            "dns",
            "tls",
            "address",
            "redirect",
            "status",
        ]
        | None
    )
    request_headers: dict[str, str]


class Bank(TypedDict):
    name: str
    identifier: str
    country_code: Literal["GH"]


class BankDetail(TypedDict):
    name: str
    identifier: str
    country_code: Literal["GH"]
    status: Literal["live"]
    connector_type: Literal["ussd", "mobile_api", "both"]
    metadata: dict[str, Any]


class BankHealth(TypedDict):
    state: Literal["up", "slow", "down"]
    since: str | None


BankStatusFilter: TypeAlias = Literal["pending", "processing", "completed", "failed", "all", "cancelled"]


class BankTransactionPaymentPartner(TypedDict):
    name: str
    partner_reference: str


class Customer(TypedDict):
    name: str | None
    phone_number: str | None
    account_number: str | None


class CustomerAccount(TypedDict):
    account_number: str
    account_name: str
    account_type: str


DebitEventStatus: TypeAlias = Literal["created", "pending", "processing", "completed", "failed", "reversed"]


class DebitSettlement(TypedDict):
    batch_id: str
    adjusted_in: str | None


DebitStatus: TypeAlias = Literal["pending", "processing", "completed", "failed", "reversed"]


class DeliveryFailure(TypedDict):
    code: Literal[4001, 4403, 4404, 4408]
    message: str


class DeliveryWithAttempts(TypedDict):
    id: int
    reference: str
    event: Literal[
        "transaction.created",
        "transaction.pending",
        "transaction.processing",
        "transaction.completed",
        "transaction.failed",
        "transaction.reversed",
        "settlement.completed",
    ]
    event_id: str
    status: Literal["pending", "delivered", "failed", "abandoned"]
    attempt_count: int
    max_attempts: int
    response_code: int | None
    response_body: str | None
    next_attempt_at: str | None
    delivered_at: str | None
    failed_at: str | None
    reason: DeliveryFailure | None
    attempts: list[Attempt]


class EventFeeSchedule(TypedDict):
    basis_points: int
    fixed: Decimal
    minimum: Decimal | None
    maximum: Decimal | None


class EventRefund(TypedDict):
    uuid: str
    status: Literal["pending", "processing", "completed", "failed"]
    amount: Decimal
    currency: Literal["GHS"]
    reason: str | None
    bank_reference: str | None
    error_message: str | None
    created_at: str
    processed_at: str | None
    completed_at: str | None
    failed_at: str | None


class EventTransaction(TypedDict):
    id: str
    uuid: str
    reference: str
    partner_reference: str
    status: DebitEventStatus
    amount: Decimal
    currency: Literal["GHS"]
    fee: Decimal | None
    narration: str | None
    approval_method: Literal["ussd", "mobile_app", "web", "direct"] | None
    bank_reference: str | None
    error_message: str | None
    created_at: str
    processed_at: str | None
    completed_at: str | None
    bank: Bank
    customer: Customer


FailureCode: TypeAlias = Literal[
    "insufficient_funds",
    "invalid_account",
    "transaction_declined",
    "timeout",
    "network_error",
    "unknown_error",
]


class FailureDetails(TypedDict):
    message: str | None
    code: FailureCode


class FeeSchedule(TypedDict):
    basis_points: int
    fixed: str
    minimum: str | None
    maximum: str | None


class MonthlyFees(TypedDict):
    fee_schedule: FeeSchedule | None
    batches: int
    debits: int
    gross: str
    fee: str


class OpenReversal(TypedDict):
    reference: str
    status: Literal["open"]
    respond_by: str


class PingEvent(TypedDict):
    event: Literal["ping"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    data: dict[str, Any]


class PingResult(TypedDict):
    event: Literal["ping"]
    event_id: str
    delivered: bool
    at: str
    duration_ms: int
    address: str | None
    response_code: int | None
    response_body: str | None
    error_class: Literal["timeout", "connect", "dns", "tls", "address", "redirect", "status"] | None
    cause: (
        Literal[
            "connect_timeout",
            "read_timeout",
            "refused",
            "broken",
            "dns",
            "tls",
            "address",
            "redirect",
            "status",
        ]
        | None
    )
    reason: DeliveryFailure | None


class Refund(TypedDict):
    uuid: str
    status: Literal["pending", "processing", "completed", "failed"]
    amount: str
    currency: Literal["GHS"]
    reason: str | None
    bank_reference: str | None
    error_message: str | None
    created_at: str
    processed_at: str | None
    completed_at: str | None
    failed_at: str | None


class ReportedTransaction(TypedDict):
    id: int
    uuid: str
    reference: str
    status: DebitStatus
    approval_method: Literal["ussd", "mobile_api", "web", "direct"] | None
    bank_reference: str | None
    error_message: str | None
    fee: str | None
    updated_at: str


class RequestedReversal(TypedDict):
    kind: Literal["refund", "complaint"]
    status: Literal["open", "accepted", "declined"]
    reason: str | None
    note: str | None
    respond_by: str
    resolved_at: str | None


class SettlementLine(TypedDict):
    type: Literal["debit", "adjustment"]
    reference: str
    partner_reference: str
    bank_reference: str | None
    completed_at: str
    currency: Literal["GHS"]
    gross: str
    fee: str
    net: str


SettlementStatus: TypeAlias = Literal["pending", "processing", "completed", "failed"]


class SettlementTotals(TypedDict):
    count: int | None
    debits: int | None
    gross: str | None
    fee: str | None
    adjustments: str | None
    net: str | None


class TransactionCompletedEventData(TypedDict):
    transaction: EventTransaction
    previous_status: DebitEventStatus | None
    metadata: dict[str, Any] | None


class TransactionCompletedEvent(TypedDict):
    event: Literal["transaction.completed", "debit_request.completed"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    sequence: int
    data: TransactionCompletedEventData


class TransactionCreatedEventData(TypedDict):
    transaction: EventTransaction
    previous_status: DebitEventStatus | None
    metadata: dict[str, Any] | None


class TransactionCreatedEvent(TypedDict):
    event: Literal["transaction.created", "debit_request.created"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    sequence: int
    data: TransactionCreatedEventData


class TransactionFailedEventData(TypedDict):
    transaction: EventTransaction
    previous_status: DebitEventStatus | None
    metadata: dict[str, Any] | None
    error_details: FailureDetails


class TransactionFailedEvent(TypedDict):
    event: Literal["transaction.failed", "debit_request.failed"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    sequence: int
    data: TransactionFailedEventData


class TransactionPendingEventData(TypedDict):
    transaction: EventTransaction
    previous_status: DebitEventStatus | None
    metadata: dict[str, Any] | None


class TransactionPendingEvent(TypedDict):
    event: Literal["transaction.pending", "debit_request.pending"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    sequence: int
    data: TransactionPendingEventData


class TransactionProcessingEventData(TypedDict):
    transaction: EventTransaction
    previous_status: DebitEventStatus | None
    metadata: dict[str, Any] | None


class TransactionProcessingEvent(TypedDict):
    event: Literal["transaction.processing", "debit_request.processing"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    sequence: int
    data: TransactionProcessingEventData


class TransactionReversedEventData(TypedDict):
    transaction: EventTransaction
    previous_status: DebitEventStatus | None
    metadata: dict[str, Any] | None
    refund: EventRefund | None


class TransactionReversedEvent(TypedDict):
    event: Literal["transaction.reversed", "debit_request.reversed"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    sequence: int
    data: TransactionReversedEventData


class Payout(TypedDict):
    uuid: str
    batch: str
    partner: str
    account_number: str
    account_name: str
    amount: str
    currency: Literal["GHS"]
    date: str


class Payee(TypedDict):
    name: str


class BankTransaction(TypedDict):
    id: int
    uuid: str
    reference: str
    partner_reference: str
    status: DebitStatus
    amount: Decimal
    currency: Literal["GHS"]
    fee: Decimal | None
    narration: str | None
    approval_method: Literal["ussd", "mobile_api", "web", "direct"] | None
    bank_reference: str | None
    error_message: str | None
    created_at: str
    processed_at: str | None
    completed_at: str | None
    bank: Bank
    customer: Customer
    metadata: dict[str, Any] | None
    account: CustomerAccount
    payment_partner: BankTransactionPaymentPartner


class CallbackTransaction(TypedDict):
    id: str
    uuid: str
    reference: str
    partner_reference: str
    status: DebitStatus
    amount: str
    currency: Literal["GHS"]
    fee: str | None
    narration: str | None
    approval_method: Literal["ussd", "mobile_api", "web", "direct"] | None
    bank_reference: str | None
    error_message: str | None
    created_at: str
    processed_at: str | None
    completed_at: str | None
    bank: Bank
    customer: Customer


class ChargeResponse(TypedDict):
    uuid: str
    status: DebitStatus
    timestamp: str
    reference: str
    bank: Bank


class Charge(TypedDict):
    reference: str
    status: DebitStatus
    response: ChargeResponse


class Debit(TypedDict):
    id: str
    uuid: str
    reference: str
    partner_reference: str
    status: DebitStatus
    amount: str
    currency: Literal["GHS"]
    fee: str | None
    narration: str | None
    approval_method: Literal["ussd", "mobile_app", "web", "direct"] | None
    bank_reference: str | None
    error_message: str | None
    created_at: str
    processed_at: str | None
    completed_at: str | None
    bank: Bank
    customer: Customer
    metadata: dict[str, Any] | None
    error_details: FailureDetails | None


class DebitDetailResponse(TypedDict):
    uuid: str
    status: DebitStatus
    timestamp: str
    processed_at: str | None
    completed_at: str | None
    bank_reference: str | None
    approval_method: Literal["ussd", "mobile_app", "web", "direct"] | None
    error_message: str | None
    error_details: FailureDetails | None


class DebitDetail(TypedDict):
    id: str
    uuid: str
    reference: str
    partner_reference: str
    status: DebitStatus
    amount: str
    currency: Literal["GHS"]
    fee: str | None
    narration: str | None
    approval_method: Literal["ussd", "mobile_app", "web", "direct"] | None
    bank_reference: str | None
    error_message: str | None
    created_at: str
    processed_at: str | None
    completed_at: str | None
    bank: Bank
    customer: Customer
    metadata: dict[str, Any] | None
    error_details: FailureDetails | None
    refund: Refund | None
    reversal_request: RequestedReversal | None
    settlement: DebitSettlement | None
    response: DebitDetailResponse


class Delivery(TypedDict):
    id: int
    reference: str
    event: Literal[
        "transaction.created",
        "transaction.pending",
        "transaction.processing",
        "transaction.completed",
        "transaction.failed",
        "transaction.reversed",
        "settlement.completed",
    ]
    event_id: str
    status: Literal["pending", "delivered", "failed", "abandoned"]
    attempt_count: int
    max_attempts: int
    response_code: int | None
    response_body: str | None
    next_attempt_at: str | None
    delivered_at: str | None
    failed_at: str | None
    reason: DeliveryFailure | None


class EventSettlement(TypedDict):
    id: str
    uuid: str
    provider: str
    currency: Literal["GHS"]
    date: str
    status: SettlementStatus
    count: int | None
    debits: int | None
    gross: Decimal | None
    fee: Decimal | None
    adjustments: Decimal | None
    net: Decimal | None
    fee_schedule: EventFeeSchedule | None
    created_at: str
    sealed_at: str | None
    payable_on: str | None
    processed_at: str | None
    completed_at: str | None
    failed_at: str | None
    failure: str | None
    bank_reference: str | None
    paid: Decimal | None
    made_good_by: str | None


class Settlement(TypedDict):
    id: str
    uuid: str
    provider: str
    currency: Literal["GHS"]
    date: str
    status: SettlementStatus
    count: int | None
    debits: int | None
    gross: str | None
    fee: str | None
    adjustments: str | None
    net: str | None
    fee_schedule: FeeSchedule | None
    created_at: str
    sealed_at: str | None
    payable_on: str | None
    processed_at: str | None
    completed_at: str | None
    failed_at: str | None
    failure: str | None
    bank_reference: str | None
    paid: str | None
    made_good_by: str | None


class SettlementCompletedEventData(TypedDict):
    settlement: EventSettlement


class SettlementCompletedEvent(TypedDict):
    event: Literal["settlement.completed"]
    event_id: str
    timestamp: str
    api_version: Literal["v1"]
    sequence: Literal[0]
    data: SettlementCompletedEventData


class SettlementReport(TypedDict):
    batch: Settlement
    lines: list[SettlementLine]
    totals: SettlementTotals


class Submission(TypedDict):
    uuid: str
    reference: str
    phone_number: str
    account_number: str | None
    amount: str
    currency: Literal["GHS"]
    payee: Payee
    narration: str
    timestamp: str


class RefundOrder(TypedDict):
    uuid: str
    debit_uuid: str
    bank_reference: str | None
    account_number: str | None
    amount: str
    currency: Literal["GHS"]
    payee: Payee
    reason: str
    timestamp: str


Event: TypeAlias = (
    TransactionCreatedEvent
    | TransactionPendingEvent
    | TransactionProcessingEvent
    | TransactionCompletedEvent
    | TransactionFailedEvent
    | TransactionReversedEvent
    | SettlementCompletedEvent
)


class MonthlyStatement(TypedDict):
    provider: str
    month: str
    currency: Literal["GHS"]
    partial: bool
    count: int
    debits: int
    gross: str
    fee: str
    adjustments: str
    net: str
    paid: str
    fees: list[MonthlyFees]
    batches: list[Settlement]


FINAL_DEBIT_STATUSES: tuple[DebitStatus, ...] = ("completed", "failed", "reversed")


E = TypeVar("E")
Handler: TypeAlias = Callable[[E, Any], object]

Handlers = TypedDict(
    "Handlers",
    {
        "transaction.created": Handler[TransactionCreatedEvent],
        "transaction.pending": Handler[TransactionPendingEvent],
        "transaction.processing": Handler[TransactionProcessingEvent],
        "transaction.completed": Handler[TransactionCompletedEvent],
        "transaction.failed": Handler[TransactionFailedEvent],
        "transaction.reversed": Handler[TransactionReversedEvent],
        "settlement.completed": Handler[SettlementCompletedEvent],
    },
    total=False,
)
"""Handlers by event. Each receives the event and the transaction of the store."""
