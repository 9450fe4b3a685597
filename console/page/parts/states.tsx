import type { ComponentChildren } from 'preact'
import type { Loaded } from '../use-operator.ts'

type EmptyProps = { title: string; children?: ComponentChildren }

/** Says why a list is empty and what fills it. */
export const Empty = ({ title, children }: EmptyProps) => (
  <div class="empty">
    <strong>{title}</strong>
    {children}
  </div>
)

export const Failure = ({ error, retry }: { error: Error; retry?: (() => void) | undefined }) => (
  <div class="notice bad" role="alert">
    {error.message}
    {retry && (
      <button type="button" class="small" onClick={retry}>
        Try again
      </button>
    )}
  </div>
)

/** Shows loaded data. A failed reload is shown above the last data. */
export function Data<T>({
  of: { data, error, reload },
  children,
}: {
  of: Loaded<T>
  children: (data: T) => ComponentChildren
}) {
  return (
    <>
      {error && <Failure error={error} retry={reload} />}
      {data !== undefined && children(data)}
      {data === undefined && !error && (
        <p class="empty" role="status">
          Loading…
        </p>
      )}
    </>
  )
}
