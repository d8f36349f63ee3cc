import { type ComponentProps, type ReactNode, useId } from 'preact/compat'

export interface FieldProps {
  readonly label: string
  readonly hint?: ReactNode
  readonly problem?: string | undefined
  readonly className?: string | undefined
  /** Gets the id and the ARIA attributes that connect the control with its label, hint and problem. */
  readonly children: (control: ControlProps) => ReactNode
}

interface ControlProps {
  readonly id: string
  readonly 'aria-describedby': string
  readonly 'aria-invalid': boolean
}

/** A control with its label, a hint, and what is wrong with its value. */
export function Field({ label, hint, problem, className, children }: FieldProps) {
  const id = useId()
  return (
    <div className={className === undefined ? 'field' : `field ${className}`}>
      <label className="field__label" htmlFor={id}>
        {label}
      </label>
      {children({
        id,
        'aria-describedby': `${id}-hint ${id}-problem`,
        'aria-invalid': problem !== undefined,
      })}
      <p id={`${id}-hint`} className="muted small" hidden={hint === undefined}>
        {hint}
      </p>
      <p id={`${id}-problem`} className="negative small" role="alert" hidden={problem === undefined}>
        {problem}
      </p>
    </div>
  )
}

interface TextFieldProps
  extends Omit<FieldProps, 'children'>,
    Pick<
      ComponentProps<'input'>,
      'placeholder' | 'maxLength' | 'readOnly' | 'autoFocus' | 'onKeyDown' | 'onBlur'
    > {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly isNumber?: boolean
  readonly type?: 'text' | 'date' | 'datetime-local' | 'tel' | 'url' | 'password'
  readonly field?: ComponentProps<'input'>['ref']
}

export function TextField(props: TextFieldProps) {
  const { label, hint, problem, className, value, onChange, isNumber = false, type, field, ...rest } = props
  return (
    <Field label={label} hint={hint} problem={problem} className={className}>
      {(control) => (
        <input
          ref={field ?? (rest.autoFocus === true ? focusOnce : null)}
          {...control}
          {...rest}
          // Preact's types check the role against one literal type. This input has no role.
          type={(type ?? 'text') as 'text'}
          className={isNumber ? 'input number' : 'input'}
          inputMode={isNumber ? 'numeric' : undefined}
          autoComplete="off"
          value={value}
          onChange={({ currentTarget }) => onChange(currentTarget.value)}
        />
      )}
    </Field>
  )
}

/** The attribute `autofocus` works only in dialogs and while the page loads. */
function focusOnce(field: HTMLInputElement | null): void {
  field?.focus()
}
