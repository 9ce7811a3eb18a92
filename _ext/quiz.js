// What script adds to a question: "Check" shows the reasons of the chosen options, under them and
// to screen readers. Nothing is sent. Only pages with a quiz load this file.
{
  const make = (name, properties, ...children) => {
    const element = Object.assign(document.createElement(name), properties);
    element.append(...children);
    return element;
  };
  for (const quiz of document.querySelectorAll(".quiz")) {
    const inputs = [...quiz.querySelectorAll("input")];
    const reasons = [...quiz.querySelectorAll("details li")];
    const right = reasons.map((reason) => !!reason.querySelector(".quiz-right"));
    const several = inputs[0].type === "checkbox";
    const marks = inputs.map((input) => {
      const mark = make("strong", {});
      input.parentElement.append(mark);
      return mark;
    });
    const check = make("button", { type: "button", textContent: "Check" });
    const again = make("button", { type: "button", textContent: "Start again", hidden: true });
    const told = make("div", { className: "quiz-told", role: "status" });
    quiz.firstElementChild.append(make("p", { className: "quiz-do" }, check, again), told);

    check.addEventListener("click", () => {
      const chosen = inputs.flatMap((input, i) => (input.checked ? [i] : []));
      if (!chosen.length) return told.replaceChildren("Choose an answer first.");
      for (const i of chosen) {
        marks[i].className = right[i] ? "quiz-right" : "quiz-wrong";
        marks[i].textContent = right[i] ? " ✓ right" : " ✗ wrong";
      }
      const explained = chosen.map((i) => {
        const number = several ? [`${i + 1}. `] : [];
        const copies = [...reasons[i].childNodes].map((node) => node.cloneNode(true));
        return make("p", {}, ...number, ...copies);
      });
      if (several) {
        const missing = right.some((is, i) => is && !inputs[i].checked);
        const wrong = chosen.some((i) => !right[i]);
        explained.unshift(
          make("p", {}, wrong ? "Not all of these are right." : missing ? "Right, but not all of them." : "All found."),
        );
      }
      told.replaceChildren(...explained);
      again.hidden = false;
    });
    quiz.addEventListener("change", () => told.replaceChildren());
    again.addEventListener("click", () => {
      for (const input of inputs) input.checked = false;
      for (const mark of marks) mark.textContent = "";
      told.replaceChildren();
      again.hidden = true;
      inputs[0].focus();
    });
  }
}
