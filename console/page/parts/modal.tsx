import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'

type HeadingProps = { title: string; id?: string; actions?: ComponentChildren }

/** The heading of a panel or a dialog, next to its actions. */
export const Heading = ({ title, id, actions }: HeadingProps) =>
  actions ? (
    <div class="head">
      <h2 id={id}>{title}</h2>
      <div class="row">{actions}</div>
    </div>
  ) : (
    <h2 id={id}>{title}</h2>
  )

type ModalProps = Omit<HeadingProps, 'id'> & {
  onClose: () => void
  /** Escape does not close it. */
  isKept?: boolean
  kind?: 'drawer'
  children: ComponentChildren
}

/** A modal dialog, which Escape closes. */
export const Modal = ({ onClose, isKept = false, kind, children, ...heading }: ModalProps) => {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => element.current?.showModal(), [])
  return (
    <dialog
      ref={element}
      class={kind}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={(event) => isKept && event.preventDefault()}
    >
      <div class="fields">
        <Heading {...heading} id={id} />
        {children}
      </div>
    </dialog>
  )
}
