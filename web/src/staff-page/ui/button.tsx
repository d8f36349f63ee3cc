import type { ComponentProps } from 'preact/compat'
import { Icon, type IconName } from '../../design/icon.tsx'

interface Props extends Omit<ComponentProps<'button'>, 'disabled' | 'className'> {
  readonly className?: string | undefined
  readonly tone?: 'plain' | 'primary' | 'danger' | 'quiet'
  readonly size?: 'medium' | 'small'
  readonly icon?: IconName
  /** A request is under way. The button keeps the focus and ignores clicks. */
  readonly isBusy?: boolean
  /** The button keeps the focus and ignores clicks. */
  readonly isDisabled?: boolean
}

/** A button that does not submit unless `type="submit"`. If it has an icon but no children, give it an `aria-label`. */
export function Button({
  tone = 'plain',
  size = 'medium',
  icon,
  isBusy = false,
  isDisabled = false,
  className,
  children,
  onClick,
  ...rest
}: Props) {
  const classes = ['button']
  if (tone !== 'plain') classes.push(`button--${tone}`)
  if (size === 'small') classes.push('button--small')
  if (children === undefined) classes.push('button--icon')
  if (className !== undefined) classes.push(className)
  const isInactive = isBusy || isDisabled
  return (
    <button
      type="button"
      {...rest}
      className={classes.join(' ')}
      aria-disabled={isInactive || undefined}
      onClick={(event) => {
        if (isInactive) event.preventDefault()
        else onClick?.(event)
      }}
    >
      {isBusy && <span className="spinner" aria-hidden="true" />}
      {icon !== undefined && !isBusy && <Icon name={icon} />}
      {children}
    </button>
  )
}
