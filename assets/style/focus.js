export default function () {
  let left = 40;
  const focus = () => {
    const input = document.querySelector('[role="dialog"] input');
    if (left-- <= 0 || (input && document.activeElement === input)) return clearInterval(trying);
    input?.focus();
  };
  const trying = setInterval(focus, 100);
  return () => clearInterval(trying);
}
