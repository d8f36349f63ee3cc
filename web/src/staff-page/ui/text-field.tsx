import { type ReactNode, type Ref, useId } from 'react'

interface Props {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  /** What is wrong with it. */
  readonly problem?: string | undefined
  readonly hint?: ReactNode
  readonly isNumber?: boolean
  readonly field?: Ref<HTMLInputElement>
}

/** A line of text or digits, with what is to be known of it and what is wrong with it. */
export function TextField({ label, value, onChange, problem, hint, isNumber = false, field }: Props) {
  const id = useId()
  return (
    <div className="field">
      <label className="field__label" htmlFor={id}>
        {label}
      </label>
      <input
        ref={field}
        id={id}
        className={isNumber ? 'input number' : 'input'}
        inputMode={isNumber ? 'numeric' : 'text'}
        autoComplete="off"
        value={value}
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint ${id}-problem`}
        onChange={({ currentTarget }) => onChange(currentTarget.value)}
      />
      <p id={`${id}-hint`} className="field__hint" hidden={hint === undefined}>
        {hint}
      </p>
      <p id={`${id}-problem`} className="field__error" hidden={problem === undefined}>
        {problem}
      </p>
    </div>
  )
}
